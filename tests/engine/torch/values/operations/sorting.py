# SPDX-License-Identifier: MIT
"""Sorts, the largest k, places in what is sorted, counts of values."""

from __future__ import annotations

from draw import Case, Draw

from .table import Row, draw_rows, kind_for

ROWS = [
    Row("x.sort({d}).values", "fib", "special", 6),
    Row("x.sort({d}, descending=True).values", "fi", "steps:2", 4),
    Row("torch.sort(x, stable=True, dim={d})", "fib", "steps:1", 5),
    Row("torch.sort(x, stable=True, dim={d}, descending=True)", "fi", "runs:4", 3),
    Row("x.argsort({d})", "sw", "distinct", 4),
    Row("x.argsort(descending=True)", "sw", "distinct", 3),
    Row("torch.argsort(x, stable=True)", "wb", "runs:5", 3),
    Row("x.sort().values.diff()", "w", "whole:0:99", 2, least_dims=1),
    Row("x.flatten().msort()", "fi", "normal", 1),
    Row("torch.bincount(x)", "wi", "whole:0:20", 5, least_dims=1, most_dims=1),
    Row("torch.bincount(x, minlength=30)", "wi", "whole:0:20", 2, least_dims=1, most_dims=1),
    Row(
        "torch.bincount(x, y.expand_as(x))",
        "w",
        "whole:0:9",
        2,
        {"y": "uniform s"},
        least_dims=1,
        most_dims=1,
        is_empty=False,
        slack=10,
    ),
    Row("torch.histc(x, bins=8, min=-2, max=2)", "s", "normal", 2),
    Row("torch.histc(x, bins=5)", "s", "normal", 1, is_empty=False),
    Row("torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.5], device=D))", "4", "normal", 3),
    Row("torch.bucketize(x, torch.tensor([-1, 0, 3], device=D), right=True)", "l", "normal", 2),
    Row("x.quantile(0.3)", "s", "normal", 2, is_empty=False, most=3000),
    Row("x.mode({d}).values", "wf", "runs:3", 2, least_dims=1, most=300, is_empty=False),
    Row("x.msort()", "fi", "normal", 2, least_dims=1),
    Row("torch.nanmedian(x)", "s", "distinct", 1, is_empty=False, most=2000),
]


def extremes(seed: int, name: str, i: int) -> Case:
    draw = Draw(f"{seed}/{name}/{i}")
    shape = draw.shape(1, is_empty=False)
    d, dtype = draw.dim(shape), draw.dtype("ffi") if shape[0] < 100 and len(shape) < 2 else draw.dtype("sw")
    k = draw.rng.randrange(1, min(shape[d], 50) + 1)
    draw.input("x", dtype, shape, kind_for("distinct", dtype))
    text = {
        "topk": f"x.topk({k}, {d})",
        "smallest": f"x.topk({k}, {d}, largest=False)",
        "kthvalue": f"x.kthvalue({k}, {d})",
        "unsorted": f"x.topk({k}, {d}, sorted=False).values.sort({d}).values",
        "least kept": f"torch.topk(x, {k}, {d})[0].select({d}, -1)",
    }[name]
    return draw.case("sorting", text)


def search(seed: int, i: int) -> Case:
    draw = Draw(f"{seed}/searchsorted/{i}")
    dtype, rows = draw.dtype("fw"), draw.rng.choice(((), (3,)))
    draw.input("s", dtype, (*rows, draw.rng.choice((1, 9, 64))), "sorted" if "float" in dtype else "permutation")
    draw.input("x", dtype, (*rows, draw.rng.choice((0, 5, 40))), kind_for("normal:2", dtype))
    how = draw.rng.choice(("", ", right=True", ", side='left'", ", out_int32=True"))
    return draw.case("sorting", f"torch.searchsorted(s.sort(-1).values, x{how})")


def cases(seed: int) -> list[Case]:
    names = ("topk", "smallest", "kthvalue", "unsorted", "least kept")
    return [
        *draw_rows("sorting", ROWS, seed),
        *(extremes(seed, name, i) for name in names for i in range(4 if name == "topk" else 2)),
        *(search(seed, i) for i in range(5)),
    ]

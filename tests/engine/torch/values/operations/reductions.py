# SPDX-License-Identifier: MIT
"""Reductions over one dimension, several, or all."""

from __future__ import annotations

from draw import Case, Draw

from .table import Row, draw_rows, kind_for

ALL = [
    *(Row(f"x.{name}()", "fib", "normal", 3, slack=10) for name in ("sum",)),
    *(Row(f"x.{name}()", "f", "normal", 2, is_empty=False, slack=10) for name in ("mean", "std", "var")),
    *(Row(f"x.{name}()", "bif", "flags:0.7", 3) for name in ("any", "all")),
    *(Row(f"x.{name}()", "fi", "special", 3, is_empty=False) for name in ("max", "min")),
    *(Row(f"x.{name}()", "fi", "distinct:0.25", 2, is_empty=False, most=2000) for name in ("argmax", "argmin")),
    Row("x.argmax()", "wb", "runs", 2, is_empty=False),
    Row("torch.count_nonzero(x)", "fib", "steps:1", 3),
    Row("x.norm()", "f", "normal", 3, slack=4),
    Row("torch.linalg.vector_norm(x, 1)", "f", "normal", 2, slack=4),
    Row("torch.linalg.vector_norm(x, inf)", "f", "normal", 2, is_empty=False),
    Row("torch.aminmax(x)", "fi", "normal", 2, is_empty=False),
    Row("x.nansum()", "f", "special", 1),
    Row("x.nanmean()", "s", "normal", 1, is_empty=False, slack=4),
    Row("x.prod()", "fi", "uniform:0.5:1.5", 2, most=40),
    Row("x.sum().item()", "fib", "normal", 3, slack=10),
    Row("x.any().item()", "b", "flags:0.01", 3),
    Row("bool(x.all())", "b", "flags:0.99", 3),
    Row("(x != x).any()", "f", "special", 2),
    Row("x.max().item()", "i", "normal", 3, is_empty=False),
    Row("int(x.sum())", "bi", "flags", 2),
    Row("x.sum(dtype=torch.float64)", "fi", "normal", 2),
    Row("x.sum(dtype=torch.int64)", "bi", "normal", 2),
    Row("torch.dist(x, x + 1)", "s", "normal", 1, slack=4),
    Row("x.numel() and torch.median(x)", "fi", "distinct:0.5", 2, most=2000, is_empty=False),
]

ALONG = [
    "x.sum({d})",
    "x.sum({d}, keepdim={k})",
    "x.mean({d}, keepdim={k})",
    "x.any({d})",
    "x.all({d}, keepdim={k})",
    "x.amax({d})",
    "x.amin({d}, keepdim={k})",
    "x.max({d})",
    "x.min({d}, keepdim={k})",
    "x.argmax({d})",
    "x.argmin({d}, keepdim={k})",
    "torch.count_nonzero(x, {d})",
    "x.norm(dim={d})",
    "x.std({d})",
    "x.var({d}, unbiased=False)",
    "x.logsumexp({d})",
    "x.prod({d})",
    "torch.linalg.vector_norm(x, 2, {d}, dtype=torch.float32)",
    "x.sum({two})",
    "x.mean({two})",
    "x.amax({two})",
    "x.any({d}).any(-1)",
    "torch.std_mean(x, {d})",
    "x.nansum({d})",
    "x.median({d}).values",
]


def along(seed: int, text: str, i: int) -> Case:
    draw = Draw(f"{seed}/reduce/{text}/{i}")
    name = text.split("(")[0].rpartition(".")[2]
    shape = draw.shape(
        2 if "two" in text or "}).any" in text else 1, is_empty=name in ("sum", "any", "all", "count_nonzero")
    )
    if name in ("max", "min", "argmax", "argmin", "median"):
        dtype, kind = draw.dtype("ffi"), "distinct:0.25"
        if count_of(shape) > 200:
            dtype = draw.dtype("sw")  # small dtypes have too few values
    elif name in ("any", "all"):
        dtype, kind = draw.dtype("bbi"), "flags:0.8"
    elif name in ("sum", "count_nonzero", "amax", "amin"):
        dtype, kind = draw.dtype("fib"), "steps:2"
    else:
        dtype, kind = draw.dtype("f"), "uniform:0.8:1.2" if name == "prod" else "normal"
    if name == "prod":
        shape, dtype = (draw.rng.choice(((3, 4), (5, 2, 6), (7,)))), draw.dtype("s")
    draw.input("x", dtype, shape, kind_for(kind, dtype))
    two = tuple(draw.rng.sample(range(len(shape)), 2)) if len(shape) > 1 else (0,)
    return draw.case("reductions", text.format(d=draw.dim(shape), k=draw.rng.random() < 0.5, two=two), slack=10)


def count_of(shape) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def cases(seed: int) -> list[Case]:
    return [*draw_rows("reductions", ALL, seed), *(along(seed, text, i) for text in ALONG for i in range(3))]

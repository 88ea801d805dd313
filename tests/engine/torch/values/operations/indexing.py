# SPDX-License-Identifier: MIT
"""Gathers and scatters: elements at places that a tensor names."""

from __future__ import annotations

from draw import WRITABLE, Case, Draw

from .table import kind_for

SHAPES = [(5,), (1,), (40,), (4, 5), (17, 19), (2, 3, 4), (9, 1025), (3, 2, 6, 5), (2049,)]


def start(seed: int, name: str, i: int, classes: str = "fib", in_place: bool = False):
    draw = Draw(f"{seed}/index/{name}/{i}")
    shape, dtype = draw.rng.choice(SHAPES), draw.dtype(classes)
    draw.input("x", dtype, shape, kind_for("normal", dtype), *([WRITABLE] if in_place else []))
    return draw, shape, dtype, draw.rng.randrange(len(shape))


def with_size(shape, d: int, n: int):
    return (*shape[:d], n, *shape[d + 1 :])


def gather(seed: int, i: int) -> Case:
    draw, shape, _, d = start(seed, "gather", i)
    sizes = tuple(draw.rng.randrange(1, size + 1) for size in shape)
    draw.input("i", "int64", with_size(sizes, d, draw.rng.choice((0, 1, 3, 7))), f"index:{shape[d]}")
    return draw.case("indexing", f"x.gather({d}, i)" if i % 3 else f"torch.gather(x, {d - len(shape)}, i)")


def index_select(seed: int, i: int) -> Case:
    draw, shape, _, d = start(seed, "index_select", i, "fib8")
    draw.input("i", draw.dtype("w"), (draw.rng.choice((0, 1, 3, 30)),), f"index:{shape[d]}")
    return draw.case("indexing", f"x.index_select({d}, i)")


def advanced(seed: int, i: int) -> Case:
    """x[i], x[:, i], x[i, j], broadcast among each other, negative too."""
    draw, shape, _, d = start(seed, "advanced", i)
    n = draw.rng.choice((1, 2, 6))
    draw.input("i", "int64", draw.rng.choice(((n,), (3, n), (), (0,))), f"signed_index:{shape[d]}")
    places = [":"] * d + ["i"]
    if d + 1 < len(shape) and draw.rng.random() < 0.6:
        draw.input("j", "int64", draw.rng.choice(((n,), (1,), ())), f"signed_index:{shape[d + 1]}")
        places.append("j")
    return draw.case("indexing", f"x[{', '.join(places)}]")


def put(seed: int, i: int) -> Case:
    draw, shape, dtype, d = start(seed, "put", i, "fi", in_place=True)
    n = draw.rng.randrange(1, min(shape[0], 8) + 1)
    draw.plain("i", "int64", (shape[0],), "permutation")
    draw.input("y", dtype, (n, *shape[1:]), kind_for("normal", dtype))
    text = draw.rng.choice(
        (
            f"x[i[:{n}]] = y; r = x",
            f"x[i[:{n}]] = 5; r = x",
            f"x.index_put((i[:{n}],), y, accumulate=True)",
            f"x[i[:{n}]] += y; r = x",
            f"x.index_copy(0, i[:{n}], y)",
            f"x.index_fill(0, i[:{n}], 2)",
        )
    )
    return draw.case("indexing", text)


def accumulate(seed: int, i: int) -> Case:
    """The same place more than once."""
    draw, shape, dtype, d = start(seed, "accumulate", i, "swl", in_place=True)
    n = draw.rng.choice((1, 6, 50))
    draw.plain("i", "int64", (n,), f"index:{shape[0]}")
    draw.input("y", dtype, (n, *shape[1:]), kind_for("normal", dtype))
    text = draw.rng.choice(
        ("x.index_add(0, i, y)", "x.index_put_((i,), y, accumulate=True)", "x.index_add_(0, i, y, alpha=2)")
    )
    return draw.case("indexing", text, slack=20)


def scatter(seed: int, i: int) -> Case:
    draw, shape, dtype, d = start(seed, "scatter", i, "fi", in_place=True)
    n = draw.rng.randrange(1, shape[d] + 1)
    draw.plain(
        "i",
        "int64",
        with_size(shape, d, shape[d]).__getitem__(slice(0, d)) + shape[d + 1 :] + (shape[d],),
        "permutation",
    )
    draw.input("y", dtype, with_size(shape, d, n), kind_for("normal", dtype))
    place = f"i.movedim(-1, {d}).narrow({d}, 0, {n})"
    return draw.case(
        "indexing",
        draw.rng.choice(
            (
                f"x.scatter({d}, {place}, y)",
                f"x.scatter_({d}, {place}, 1)",
                f"torch.zeros_like(x).scatter({d}, {place}, y)",
            )
        ),
    )


def scatter_many(seed: int, i: int) -> Case:
    draw, shape, dtype, d = start(seed, "scatter_add", i, "sw", in_place=True)
    n = draw.rng.choice((1, 6, 30))
    sizes = with_size(shape, d, n)
    draw.input("i", "int64", sizes, f"index:{shape[d]}")
    draw.input("y", dtype, sizes, kind_for("normal", dtype))
    how = draw.rng.choice(("sum", "amax", "amin", "mean", "prod"))
    text = (
        f"x.scatter_add({d}, i, y)"
        if i % 2
        else f"x.scatter_reduce({d}, i, y, reduce='{how}', include_self={draw.rng.random() < 0.5})"
    )
    if "mean" in text and "float" not in dtype:
        text = text.replace("mean", "sum")
    return draw.case("indexing", text, slack=30)


def embedding(seed: int, i: int) -> Case:
    draw = Draw(f"{seed}/embedding/{i}")
    n, width = draw.rng.choice((3, 50, 1000)), draw.rng.choice((1, 4, 33))
    draw.plain("w", draw.dtype("f"), (n, width), "normal")
    draw.input("i", draw.dtype("w"), draw.rng.choice(((5,), (2, 7), (), (0,), (3, 4, 2))), f"index:{n}")
    return draw.case("indexing", draw.rng.choice(("F.embedding(i, w)", "F.embedding(i, w, padding_idx=0)", "w[i]")))


def one_hot(seed: int, i: int) -> Case:
    draw = Draw(f"{seed}/one_hot/{i}")
    n = draw.rng.choice((2, 5, 40))
    draw.input("i", "int64", draw.rng.choice(((5,), (2, 7), (64,), (1,))), f"index:{n}")
    return draw.case("indexing", f"F.one_hot(i, {n})" if i % 2 else "F.one_hot(i)")


def repeat(seed: int, i: int) -> Case:
    draw = Draw(f"{seed}/repeat/{i}")
    n = draw.rng.choice((1, 4, 30))
    dtype = draw.dtype("fi")
    draw.input("x", dtype, (n, *draw.rng.choice(((), (3,)))), kind_for("normal", dtype))
    draw.plain("i", "int64", (n,), "whole:0:4")
    return draw.case(
        "indexing",
        draw.rng.choice(
            (
                "x.repeat_interleave(i, dim=0)",
                "torch.repeat_interleave(i)",
                "x.repeat_interleave(3, 0)",
                "x.repeat_interleave(i, 0, output_size=int(i.sum()))",
            )
        ),
    )


def masks(seed: int, i: int) -> Case:
    draw, shape, dtype, d = start(seed, "masks", i, "fi", in_place=True)
    draw.plain("c", "bool", shape, "flags")
    draw.plain("y", dtype, (200000 if len(shape) > 3 else 12000,), kind_for("normal", dtype))
    draw.plain("i", "int64", (4,), f"index:{max(1, shape[0])}")
    return draw.case(
        "indexing",
        draw.rng.choice(
            (
                "x.masked_scatter(c, y)",
                "x.take(i)",
                "x.put_(i.unique(), y[:len(i.unique())])",
                "x.take_along_dim(i.view(-1, *[1] * (x.dim() - 1)), 0)",
                "x[c].sum()",
                "torch.where(c)[0].tolist()",
            )
        ),
        slack=20,
    )


MAKERS = (
    (gather, 7),
    (index_select, 4),
    (advanced, 9),
    (put, 8),
    (accumulate, 5),
    (scatter, 6),
    (scatter_many, 8),
    (embedding, 5),
    (one_hot, 4),
    (repeat, 5),
    (masks, 7),
)


def cases(seed: int) -> list[Case]:
    return [maker(seed, i) for maker, n in MAKERS for i in range(n)]

# SPDX-License-Identifier: MIT
"""Copies with any strides, broadcasting, concatenation, and what moves elements about."""

from __future__ import annotations

from draw import WRITABLE, Case, Draw

from .table import Row, draw_rows, kind_for

ROWS = [
    Row("x.clone()", "fib8c", draws=4),
    Row("x.contiguous()", "fib8", draws=4),
    Row("x.cpu()", "fib8", draws=3),
    Row("x.transpose(0, -1).contiguous()", "fib8", draws=4, least_dims=2),
    Row("x.flatten() + 0", "fi", draws=2),
    Row("torch.empty_like(x).copy_(x)", "fib8", draws=3),
    Row("x.copy_(y.expand_as(x))", "fi", draws=3, in_place=True, others={"y": "normal fi"}, is_empty=False),
    Row("x[...] = y.to(x.dtype); r = x", "fi", draws=3, in_place=True, others={"y": "normal fi"}),
    Row("x.T.reshape(-1)", "fi", draws=2, least_dims=2, most_dims=2),
    Row("x.unsqueeze({d}).repeat_interleave(2, {d})", "fi", draws=2),
    Row("x.flip(0)", "fib", draws=3, least_dims=1),
    Row("x.flip(0, -1)", "fib", draws=2, least_dims=2),
    Row("torch.flip(x, dims=[{d}])", "fi", draws=2, least_dims=1),
    Row("x.roll(2, {d})", "fib", draws=3, least_dims=1),
    Row("x.roll(-1)", "fi", draws=2),
    Row("torch.tril(x)", "fib", draws=3, least_dims=2),
    Row("torch.triu(x, {k})", "fib", draws=3, least_dims=2),
    Row("x.tril_(-1)", "fi", draws=1, least_dims=2, in_place=True),
    Row("torch.rot90(x)", "fi", draws=1, least_dims=2),
    Row("x.repeat(2, *[1] * (x.dim() - 1))", "fib", draws=2, least_dims=1),
    Row("torch.tile(x, (2,))", "fi", draws=2),
    Row("torch.diag(x)", "fi", draws=2, least_dims=1, most_dims=2, most=400),
    Row("torch.diag_embed(x)", "fi", draws=1, least_dims=1, most=400),
    Row("torch.diff(x, dim={d})", "fib", draws=4, least_dims=1),
    Row("torch.diff(x, n=2)", "fi", draws=1, least_dims=1),
    Row("torch.movedim(x, 0, -1).contiguous()", "fi", draws=2, least_dims=1),
    Row("F.pad(x, (1, 2))", "fib", draws=3, least_dims=1),
    Row("F.pad(x, (2, 1), value=-100)", "i", draws=2, least_dims=1),
    Row("x.unfold(-1, 1, 2).clone()", "fi", draws=2, least_dims=1, is_empty=False),
    Row("torch.broadcast_to(x, (3, *x.shape)).contiguous()", "fib", draws=2),
    Row("[t.clone() for t in x.unbind(0)]", "fi", draws=2, least_dims=1, most=400),
    Row("[t.clone() for t in x.chunk(3, {d})]", "fi", draws=2, least_dims=1),
    Row("x.squeeze().clone()", "fib", draws=1),
    Row("x.view(torch.int32) + 1", "4", draws=1),
    Row("x.contiguous(memory_format=torch.channels_last) * 2", "f", draws=1, least_dims=4),
    Row(
        "x.pin_memory().to(D, non_blocking=True) + 1 if x.device.type == 'cpu' and D != 'cpu' else x + 1", "f", draws=1
    ),
]


def joined(seed: int, i: int, name: str) -> Case:
    draw = Draw(f"{seed}/join/{name}/{i}")
    dtype, shape = draw.dtype("fib8"), draw.shape(1)
    d = draw.dim(shape)
    for letter in "xyz":
        sizes = list(shape)
        if name == "cat":
            sizes[d] = draw.rng.choice((0, 1, 2, 5, sizes[d]))
        draw.input(letter, dtype, tuple(sizes), kind_for("normal", dtype))
    return draw.case("copies", f"torch.{name}([x, y, z], {d})")


def mixed(seed: int) -> Case:
    """Of several dtypes, and one that is empty by old custom."""
    draw = Draw(f"{seed}/join/mixed")
    for letter in "xy":
        dtype = draw.dtype("fi")
        draw.input(letter, dtype, (3, 4), kind_for("normal", dtype))
    return draw.case("copies", "torch.cat([x, y, x])")


def many(seed: int) -> Case:
    draw = Draw(f"{seed}/join/many")
    dtype = draw.dtype("fi")
    draw.input("x", dtype, (draw.rng.randrange(100, 200), 3), kind_for("normal", dtype))
    return draw.case("copies", "torch.cat(list(x.unbind(0)), 0)")


def sliced(seed: int, i: int) -> Case:
    """Basic indexing on both sides of an assignment."""
    draw = Draw(f"{seed}/slices/{i}")
    dtype, shape = draw.dtype("fib"), draw.rng.choice([(6, 8), (4, 5, 6), (12,), (9, 130)])
    draw.input("x", dtype, shape, kind_for("normal", dtype), WRITABLE)
    places = []
    for size in shape:
        low = draw.rng.randrange(size)
        places.append(
            draw.rng.choice((f"{low}:{draw.rng.randrange(low, size + 1)}", "::2", f"-{low + 1}", ":", "1:-1"))
        )
    text = ", ".join(places)
    return draw.case("copies", f"x[{text}] = x[{text}].clone() * 2; r = x.clone()" if i % 2 else f"x[{text}].clone()")


def cases(seed: int) -> list[Case]:
    return [
        *draw_rows("copies", ROWS, seed),
        *(joined(seed, i, name) for name in ("cat", "stack") for i in range(5)),
        mixed(seed),
        many(seed),
        *(sliced(seed, i) for i in range(6)),
    ]

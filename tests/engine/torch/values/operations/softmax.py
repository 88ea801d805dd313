# SPDX-License-Identifier: MIT
"""Softmax of small tensors, and losses on top of it."""

from __future__ import annotations

from draw import Case, Draw

from .table import Row, draw_rows

ROWS = [
    Row("x.softmax({d})", "f", "normal:2", 6),
    Row("x.log_softmax({d})", "f", "normal:2", 5, cancels=True),
    Row("F.softmax(x, -1, dtype=torch.float32)", "f", "normal:2", 4),
    Row("F.log_softmax(x.float(), -1)", "f", "normal:2", 2),
    Row("x.masked_fill(c, -inf).softmax(-1)", "f", "normal", 3, {"c": "flags:0.3 b"}),
    Row("F.softmin(x, {d})", "f", "normal", 1),
    Row("x.softmax(-1).sum(-1)", "s", "normal", 2),
    Row("x.softmax(-1).argmax(-1)", "s", "distinct:0.25", 2, is_empty=False, most=300),
    Row("x.softmax({d}).isnan().any().item()", "f", "normal", 3),
]


def loss(seed: int, i: int) -> Case:
    draw = Draw(f"{seed}/loss/{i}")
    n, classes = draw.rng.choice((1, 4, 33)), draw.rng.choice((2, 10, 1000, 3000))
    draw.input("x", draw.dtype("f"), (n, classes), "normal:2")
    draw.plain("t", "int64", (n,), f"labels:{classes}:0")
    how = draw.rng.choice(("", ", reduction='none'", ", reduction='sum'", ", ignore_index=0", ", label_smoothing=0.1"))
    return draw.case("softmax", f"F.cross_entropy(x, t{how})", slack=4, cancels=True)


def cases(seed: int) -> list[Case]:
    return [*draw_rows("softmax", ROWS, seed), *(loss(seed, i) for i in range(5))]

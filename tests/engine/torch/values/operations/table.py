# SPDX-License-Identifier: MIT
"""Rows of operations on tensors of any shape, and how a row is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field

from draw import LAYOUTS, WRITABLE, Case, Draw


@dataclass(frozen=True)
class Row:
    text: str  # {d}: a dimension of x; {keep}: True or False; {k}: a small number
    classes: str = "f"  # of dtypes, inputs.DTYPES
    kind: str = "normal"
    draws: int = 2
    others: dict[str, str] = field(default_factory=dict)  # name to "kind", or "kind class": broadcast to x
    least_dims: int = 0
    most_dims: int = 4
    most: int = 100000  # elements
    is_empty: bool = True
    in_place: bool = False
    slack: float = 1.0
    cancels: bool = False


def draw_row(family: str, row: Row, seed: int, i: int) -> Case:
    draw = Draw(f"{seed}/{family}/{row.text}/{row.classes}/{i}")
    shape = draw.shape(row.least_dims, row.most_dims, row.is_empty, row.most)
    dtype = draw.dtype(row.classes)
    draw.input("x", dtype, shape, kind_for(row.kind, dtype), WRITABLE if row.in_place else LAYOUTS)
    for name, what in row.others.items():
        kind, _, classes = what.partition(" ")
        other = draw.dtype(classes) if classes else dtype
        draw.input(name, other, draw.like(shape), kind_for(kind, other))
    text = row.text.format(d=draw.dim(shape), keep=draw.rng.random() < 0.5, k=draw.rng.randrange(1, 4))
    return draw.case(family, text, slack=row.slack, cancels=row.cancels)


def kind_for(kind: str, dtype: str) -> str:
    """Floats draw as the row says; whole numbers and flags as they can."""
    if dtype == "bool":
        return "flags"
    if dtype == "complex64":
        return "complex"
    if "float" in dtype or kind.split(":")[0] not in ("normal", "uniform", "special", "steps", "sorted"):
        return kind
    return "whole:0:12" if dtype == "uint8" else "whole:-9:12"


def draw_rows(family: str, rows: list[Row], seed: int) -> list[Case]:
    return [draw_row(family, row, seed, i) for row in rows for i in range(row.draws)]

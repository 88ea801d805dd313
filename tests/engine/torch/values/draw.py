# SPDX-License-Identifier: MIT
"""
Draws: from a seed, dtypes, shapes, layouts and arguments of an expression. The seed of a draw is made of the suite's
seed and the expression, so that a new expression changes no other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from inputs import DTYPES, Input

SMALL = [(1,), (2,), (5,), (7,), (33,), (4, 5), (3, 1), (1, 6), (17, 19), (2, 3, 4), (2, 1, 5), (2, 1, 5, 3)]
MIDDLE = [(300,), (2049,), (64, 130), (9, 1025), (8, 3, 160), (2, 3, 16, 16)]
LARGE = [(20000,), (70001,), (100, 700), (3, 40000)]
EMPTY = [(0,), (0, 3), (4, 0), (2, 0, 3)]
LAYOUTS = ("contiguous", "contiguous", "contiguous", "transposed", "stepped", "offset", "selected", "expanded")


@dataclass(frozen=True)
class Case:
    family: str
    text: str  # an expression, or statements that set r
    inputs: tuple[Input, ...] = ()
    check: str = ""  # of a result that two devices draw differently: what holds of every valid r
    slack: float = 1.0  # factor on the dtype's tolerance: sums of many terms
    raises: bool = False  # it has to be refused, by both
    cancels: bool = False  # terms of a few units may leave little: narrow types have an absolute tolerance

    def __str__(self) -> str:
        return f"{self.family}: {self.text}   {' '.join(map(str, self.inputs))}".rstrip()


@dataclass
class Draw:
    """One draw of one expression."""

    seed: str
    rng: random.Random = field(init=False)
    inputs: list[Input] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def dtype(self, classes: str) -> str:
        """One of the classes, a letter each; floats and integers as often as each other."""
        return self.rng.choice(DTYPES[self.rng.choice(classes)])

    def shape(
        self, least_dims: int = 0, most_dims: int = 4, is_empty: bool = True, most: int = 100000
    ) -> tuple[int, ...]:
        """Mostly small; one in ten empty, one in ten 0-d, one in ten large."""
        pools = (
            [SMALL] * 6 + [MIDDLE] * 2 + [LARGE] + ([EMPTY] if is_empty else []) + ([[()]] if least_dims == 0 else [])
        )
        while True:
            shape = self.rng.choice(self.rng.choice(pools))
            if least_dims <= len(shape) <= most_dims and count(shape) <= most:
                return shape

    def dim(self, shape: tuple[int, ...]) -> int:
        return self.rng.randrange(-len(shape), len(shape)) if shape else 0

    def input(
        self, name: str, dtype: str, shape: tuple[int, ...], kind: str, layouts: tuple[str, ...] = LAYOUTS
    ) -> Input:
        if kind.startswith(("distinct", "permutation")):
            layouts = tuple(one for one in layouts if one != "expanded")  # would repeat its values
        base, view = LAYOUT[self.rng.choice(layouts)](self.rng, tuple(shape))
        made = Input(name, dtype, base, kind, view, self.rng.randrange(1 << 31))
        self.inputs.append(made)
        return made

    def plain(self, name: str, dtype: str, shape: tuple[int, ...], kind: str) -> Input:
        return self.input(name, dtype, shape, kind, ("contiguous",))

    def like(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to this one."""
        how = self.rng.random()
        if how < 0.5 or not shape:
            return shape
        if how < 0.65:
            return ()
        if how < 0.85:
            return tuple(1 if self.rng.random() < 0.5 else size for size in shape)
        return shape[self.rng.randrange(len(shape)) :]

    def case(self, family: str, text: str, check: str = "", slack: float = 1.0, **more: bool) -> Case:
        return Case(family, text, tuple(self.inputs), check, slack, **more)


def count(shape: tuple[int, ...]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def contiguous(rng, shape):
    return shape, ""


def transposed(rng, shape):
    if len(shape) < 2:
        return stepped(rng, shape)
    a, b = rng.sample(range(len(shape)), 2)
    base = list(shape)
    base[a], base[b] = base[b], base[a]
    return tuple(base), f".transpose({a}, {b})"


def stepped(rng, shape):
    if not shape:
        return selected(rng, shape)
    d, step = rng.randrange(len(shape)), rng.choice((2, 3))
    base = list(shape)
    base[d] = max(0, base[d] * step - rng.randrange(step))
    return tuple(base), f"[{', '.join([':'] * d + [f'::{step}'])}]"


def offset(rng, shape):
    if not shape:
        return selected(rng, shape)
    d = rng.randrange(len(shape))
    base = list(shape)
    base[d] += 3
    return tuple(base), f".narrow({d}, {rng.randrange(4)}, {shape[d]})"


def selected(rng, shape):
    d, n = rng.randrange(len(shape) + 1), rng.choice((2, 4))
    base = list(shape)
    base.insert(d, n)
    return tuple(base), f".select({d}, {rng.randrange(n)})"


def expanded(rng, shape):
    if not shape or 0 in shape:
        return shape, ""
    base = list(shape)
    base[rng.randrange(len(shape))] = 1
    return tuple(base), f".expand({', '.join(map(str, shape))})"


LAYOUT = {
    "contiguous": contiguous,
    "transposed": transposed,
    "stepped": stepped,
    "offset": offset,
    "selected": selected,
    "expanded": expanded,
}
# an expanded tensor cannot be written in place
WRITABLE = ("contiguous", "contiguous", "transposed", "stepped", "offset", "selected")

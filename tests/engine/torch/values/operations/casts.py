# SPDX-License-Identifier: MIT
"""Casts between all dtypes."""

from __future__ import annotations

import itertools

from draw import Case, Draw
from inputs import DTYPES

ALL = [name for letter in "fib8" for name in DTYPES[letter]]
# what holds in every dtype on every device: a cast that leaves the range of whole numbers is undefined
RANGE = "whole:0:14"


def cases(seed: int) -> list[Case]:
    made = []
    for source, target in itertools.permutations(ALL, 2):
        draw = Draw(f"{seed}/casts/{source}/{target}")
        if draw.rng.random() > 0.4:  # of 132 pairs; another seed takes others
            continue
        is_float = "float" in source and target not in DTYPES["i"]
        kind = "normal:2" if is_float else "flags" if source == "bool" else RANGE
        if "float" in source and "float" in target and draw.rng.random() < 0.3:
            kind = "special"
        if "float" in source and target in ("int64", "int32") and draw.rng.random() < 0.5:
            kind = "normal:5"  # rounds towards zero
        draw.input("x", source, draw.shape(), kind)
        made.append(draw.case("casts", f"x.to(torch.{target})"))
    for i, name in enumerate(("float", "half", "bfloat16", "double", "int", "long", "bool")):
        draw = Draw(f"{seed}/casts/{name}")
        draw.input("x", draw.dtype("fib"), draw.shape(), "flags" if i == 5 else RANGE)
        made.append(draw.case("casts", f"x.{name}()"))
    return made

# SPDX-License-Identifier: MIT
"""
Idioms: expressions that steer programs, after what libraries do, in our words. The files of idioms/ have, one after
the other:

    == DeepSpeed               the family
    g s N,4 gradients:0.02     an input: name, dtype (or the letter of a class of them), sizes, values; see inputs.py
    draws 3                    of sizes and values; default 2
    slack 4                    factor on the tolerance: sums of many terms
    check bool((r >= 0).all()) what holds of a result that is random
    raises                     it has to be refused
        bool((g != g).any())   an expression, or statements that set r

A size is a number, a letter of SIZES, or "-" for a tensor of no dimensions; <B> in a text is the drawn size.
"""

from __future__ import annotations

import os
import re
import textwrap
from dataclasses import dataclass, field

from draw import Case, Draw
from inputs import DTYPES

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "idioms")
# batch, sequence, vocabulary, items, classes, width, a few
SIZES = {
    "B": (1, 2, 3, 5),
    "S": (4, 7, 16, 33),
    "V": (11, 50, 1000),
    "N": (1, 6, 20, 130),
    "C": (2, 4, 10),
    "H": (4, 8, 16),
    "K": (1, 2, 3),
}


@dataclass
class Idiom:
    library: str
    text: str = ""
    inputs: list[str] = field(default_factory=list)
    draws: int = 2
    slack: float = 1.0
    check: str = ""
    raises: bool = False


def read(path: str) -> list[Idiom]:
    made: list[Idiom] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.strip().partition(" ")
            if line.startswith("    "):
                made[-1].text += line[4:]
            elif word == "==":
                made.append(Idiom(rest))
            elif word == "draws":
                made[-1].draws = int(rest)
            elif word == "slack":
                made[-1].slack = float(rest)
            elif word == "check":
                made[-1].check = rest
            elif word == "raises":
                made[-1].raises = True
            elif word and not word.startswith("#"):
                made[-1].inputs.append(line.strip())
    for idiom in made:
        idiom.text = textwrap.dedent(idiom.text).strip()
    return made


def draw_idiom(idiom: Idiom, seed: int, i: int) -> Case:
    draw = Draw(f"{seed}/{idiom.library}/{idiom.text}/{i}")
    sizes = {name: draw.rng.choice(choices) for name, choices in SIZES.items()}
    dtypes = {letter: draw.dtype(letter) for letter in DTYPES}  # the same letter is the same dtype

    def filled(text: str) -> str:
        return re.sub(r"<([A-Z])>", lambda found: str(sizes[found[1]]), text)

    for line in idiom.inputs:
        name, dtype, shape, kind = filled(line).split()
        dims = () if shape == "-" else tuple(sizes[one] if one in sizes else int(one) for one in shape.split(","))
        draw.plain(name, dtypes.get(dtype, dtype), dims, kind)
    return draw.case(idiom.library, filled(idiom.text), filled(idiom.check), idiom.slack, raises=idiom.raises)


def cases(seed: int) -> list[Case]:
    made = []
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".txt"):
            made += [
                draw_idiom(idiom, seed, i) for idiom in read(os.path.join(FOLDER, name)) for i in range(idiom.draws)
            ]
    return made

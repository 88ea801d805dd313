# SPDX-License-Identifier: MIT
"""At which sizes each program of program.py is recorded, and at which its peaks are predicted: drawn with a seed, before any ran."""
from __future__ import annotations

import random
from dataclasses import dataclass

import program

SEED = 16


@dataclass(frozen=True)
class Design:
    """The first value of each list is the base of the recordings."""
    batches: list[int]  # what a step takes is linear in it
    lengths: list[int]
    between: list[tuple[int, int]]  # (batch, length) inside the recorded range, not recorded
    beyond: list[tuple[int, int]]  # four times the batch or the work of the length


def drawn(name: str) -> Design:
    source = random.Random(f"{SEED} {name}")
    is_picture = program.PROGRAMS[name].family in program.PICTURES
    first, step = source.choice([2, 3, 4]), source.choice([1, 2])
    batches = [first, first + 2 * step]
    if is_picture:
        first, step, grain, factor = source.choice([64, 96, 128]), source.choice([32, 64]), 16, 2  # of a side: 4 times the points
    else:
        first, step, grain, factor = source.choice([96, 128, 192, 256]), source.choice([64, 96, 128]), 16, 4
    lengths = [first, first + step, first + 2 * step]
    inside = [(b, s) for b in range(batches[0], batches[-1] + 1) for s in range(lengths[0], lengths[-1] + 1, grain) if s not in lengths]
    beyond = [(4 * batches[-1], source.choice(lengths)), (source.choice(batches), factor * lengths[-1])]
    return Design(batches, lengths, sorted(source.sample(inside, 3))[:2], beyond)


# The largest batch that fits: program, length and card. The steps are recorded on another card.
SEARCHES = [("llama", 384, "RTX 3060 12GB"), ("llama-checkpoint", 256, "RTX 3060 12GB"), ("llama-autocast", 384, "RTX 4090"),
            ("gpt2-trainer", 256, "RTX 3060 12GB"), ("bert-mlm", 192, "RTX 4090"), ("unet", 192, "RTX 3060 12GB"),
            ("unet-checkpoint", 160, "RTX 4090"), ("vit", 160, "RTX 3060 12GB"), ("lstm", 320, "RTX 3060 12GB"),
            ("resnet", 128, "RTX 3060 12GB")]
MOST = 1024  # of the batches that are tried

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
    larger: list[int]  # batches that are recorded as well


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
    return Design(batches, lengths, sorted(source.sample(inside, 3))[:2], beyond, larger(name, lengths[0]))


def larger(name: str, length: int) -> list[int]:
    """
    Where a program works in pieces that no recording shows, the step refuses larger sizes and names the batches that show two and
    three: for TRL's loss 1.25 and 2.25 times its 4,096 words, of which the last of each text has no label.
    """
    if program.PROGRAMS[name].loop != "sft":
        return []
    return [words // (length - 1) + 1 for words in (5120, 9216)]


@dataclass(frozen=True)
class Search:
    """For the largest batch that fits on a card, with texts or pictures of one length."""
    name: str
    length: int
    card: str

    def batches(self) -> list[int]:
        """That are recorded: past 4,096 words, or parts of pictures, from where PyTorch's kernels stay the same; else 8 pictures."""
        family = program.PROGRAMS[self.name].family
        rows = (self.length // 16) ** 2 + 1 if family == "vit" else self.length
        first = 8 if family in ("resnet", "unet") else -(-4096 // rows)
        return [first, first + 2, 2 * first]

    def range(self, truths: dict[tuple[int, int], int]) -> tuple[int, int]:
        """
        Of the batches that are tried, around what the program's peaks at other sizes come to if all of it grows with the number of
        words, or of points of pictures.
        """
        words = {batch * length ** (2 if self.is_of_pictures else 1): peak for (batch, length), peak in truths.items()}
        least, most = min(words), max(words)
        each = (words[most] - words[least]) / (most - least)
        room = CARDS[self.card] * 2**30 * 0.95 - words[least] + each * least
        batch = room / each / self.length ** (2 if self.is_of_pictures else 1)
        return max(2, int(0.8 * batch)), int(1.25 * batch) + 1

    @property
    def is_of_pictures(self) -> bool:
        return program.PROGRAMS[self.name].family in program.PICTURES


CARDS = {"GTX 1650 GDDR5": 4, "RTX 2060": 6, "RTX 3050 Laptop 4GB": 4, "RTX 3050 6GB": 6, "RTX 4060": 8, "RTX 5060": 8,
         "RTX 3060 12GB": 12, "RTX 4090": 24}  # GiB


def searches() -> list[Search]:
    """Ten that were chosen, and fourteen drawn from the other programs; compiled ones are compiled for a minute by each trial."""
    chosen = [("llama", 384, "RTX 3060 12GB"), ("llama-checkpoint", 256, "RTX 3060 12GB"), ("llama-autocast", 384, "RTX 4090"),
              ("gpt2-trainer", 256, "RTX 3060 12GB"), ("bert-mlm", 192, "RTX 4090"), ("unet", 192, "RTX 3060 12GB"),
              ("unet-checkpoint", 160, "RTX 4090"), ("vit", 160, "RTX 3060 12GB"), ("lstm", 320, "RTX 3060 12GB"),
              ("resnet", 128, "RTX 3060 12GB")]
    others = [name for name, what in program.PROGRAMS.items() if not what.is_compiled and name not in {row[0] for row in chosen}]
    source = random.Random(f"{SEED} largest")
    drawn_ones = [(name, source.choice(drawn(name).lengths), source.choice(list(CARDS)[:6])) for name in source.sample(others, 14)]
    return [Search(*row) for row in chosen + drawn_ones]

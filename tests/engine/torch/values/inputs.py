# SPDX-License-Identifier: MIT
"""
Inputs of expressions: what a tensor is made of, as a line of text, and the tensor. A recipe is made where no PyTorch is
(draw.py); the rehearsed program makes the tensor of it, on the CPU, from the recipe's own seed.
"""

from __future__ import annotations

from dataclasses import dataclass

DTYPES = {
    "f": ("float32", "float64", "bfloat16", "float16"),
    "i": ("int64", "int32", "int16", "int8", "uint8"),
    "b": ("bool",),
    "8": ("float8_e4m3fn", "float8_e5m2"),
    "c": ("complex64",),
    "l": ("int64",),
    "w": ("int64", "int32"),
    "s": ("float32", "float64"),
    "4": ("float32",),
    "h": ("float32", "bfloat16", "float16"),
}


@dataclass(frozen=True)
class Input:
    name: str
    dtype: str
    base: tuple[int, ...]  # what is stored
    kind: str  # of values: a name below, then what it takes, by colons
    view: str = ""  # of the base, as text: ".transpose(0, 1)"
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.name}={self.dtype}{list(self.base)}{self.view}:{self.kind}"


def make(recipe: Input, torch):
    """The base, on the CPU."""
    name, *arguments = recipe.kind.split(":")
    generator = torch.Generator().manual_seed(recipe.seed)
    values = KINDS[name](torch, generator, recipe.base, *map(float, arguments))
    values = values.to(getattr(torch, recipe.dtype)).contiguous()
    if values.dtype in (torch.bfloat16, torch.float16):
        # some casts of the CPU make a NaN with a sign, which sorts first on a card
        values[values.isnan()] = float("nan")
    return values


def normal(torch, generator, shape, scale=1.0, middle=0.0):
    return torch.randn(shape, generator=generator, dtype=torch.float64) * scale + middle


def uniform(torch, generator, shape, low=0.0, high=1.0):
    return torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low


def whole(torch, generator, shape, low=0.0, high=10.0):
    """Whole numbers of [low, high)."""
    return torch.randint(int(low), max(int(high), int(low) + 1), shape, generator=generator)


def nonzero(torch, generator, shape, high=10.0):
    return whole(torch, generator, shape, 1, high)


def distinct(torch, generator, shape, scale=1.0):
    """No two are the same, in no order, some below zero; whole numbers when scale is 1."""
    n = _count(shape)
    return ((torch.randperm(n, generator=generator) - n // 2) * scale).reshape(shape)


def special(torch, generator, shape):
    """Among ordinary numbers: infinities, NaN, both zeros."""
    values = normal(torch, generator, shape, 2.0)
    which = torch.randint(0, 12, tuple(shape), generator=generator)
    for i, value in enumerate((float("inf"), float("-inf"), float("nan"), 0.0, -0.0)):
        values = torch.where(which == i, value, values)
    return values


def steps(torch, generator, shape, scale=4.0):
    """Many equal ones, halves among them: for rounding, modes, runs."""
    return torch.round(normal(torch, generator, shape, scale)) / 2


def runs(torch, generator, shape, high=4.0):
    """Whole numbers that repeat one after the other."""
    n = _count(shape)
    return torch.randint(0, int(high), (n // 3 + 1,), generator=generator).repeat_interleave(3)[:n].reshape(shape)


def flags(torch, generator, shape, share=0.5):
    return torch.rand(shape, generator=generator) < share


def sorted_(torch, generator, shape, scale=3.0):
    return normal(torch, generator, shape, scale).sort(-1).values if shape else normal(torch, generator, shape, scale)


def index(torch, generator, shape, size):
    """Valid indices of a dimension of that size."""
    return whole(torch, generator, shape, 0, size)


def signed_index(torch, generator, shape, size):
    return whole(torch, generator, shape, -size, size)


def permutation(torch, generator, shape):
    """0 .. n-1, each once, along the last dimension."""
    return torch.argsort(torch.rand(shape, generator=generator), -1) if shape else torch.zeros((), dtype=torch.int64)


def probabilities(torch, generator, shape):
    return torch.softmax(normal(torch, generator, shape, 2.0), -1)


def mask(torch, generator, shape, is_left=0.0):
    """Rows of an attention mask: ones, and zeros as padding."""
    lengths = torch.randint(1, shape[-1] + 1, (*shape[:-1], 1), generator=generator)
    places = torch.arange(shape[-1])
    return (places >= shape[-1] - lengths if is_left else places < lengths).long()


def labels(torch, generator, shape, n_tokens=50.0, share=0.5):
    """Token ids with -100 before them, as trainers mask prompts."""
    ids = whole(torch, generator, shape, 0, n_tokens)
    lengths = torch.randint(0, int(shape[-1] * share) + 1, (*shape[:-1], 1), generator=generator)
    return torch.where(torch.arange(shape[-1]) < lengths, -100, ids)


def boxes(torch, generator, shape, size=100.0):
    """x1, y1, x2, y2 with x1 < x2."""
    corner = uniform(torch, generator, (*shape[:-1], 2), 0, size)
    return torch.cat([corner, corner + uniform(torch, generator, (*shape[:-1], 2), 1, size / 2)], -1).reshape(shape)


def gradients(torch, generator, shape, share=0.02):
    """Ordinary gradients; now and then one that overflowed."""
    values = normal(torch, generator, shape, 0.3)
    return torch.where(torch.rand(shape, generator=generator) < share, float("inf"), values)


def complex_(torch, generator, shape):
    return torch.complex(normal(torch, generator, shape), normal(torch, generator, shape))


def constant(torch, generator, shape, value=0.0):
    return torch.full(shape, value, dtype=torch.float64)


def _count(shape) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


KINDS = {
    "normal": normal,
    "uniform": uniform,
    "whole": whole,
    "nonzero": nonzero,
    "distinct": distinct,
    "special": special,
    "steps": steps,
    "runs": runs,
    "flags": flags,
    "sorted": sorted_,
    "index": index,
    "signed_index": signed_index,
    "permutation": permutation,
    "probabilities": probabilities,
    "mask": mask,
    "labels": labels,
    "boxes": boxes,
    "gradients": gradients,
    "complex": complex_,
    "constant": constant,
}

# SPDX-License-Identifier: MIT
"""Fills, ranges and what is made of them."""

from __future__ import annotations

from draw import Case, Draw

from .table import Row, draw_rows

FILLS = [
    Row("torch.full_like(x, 7)", "fi", draws=2),
    Row("torch.zeros_like(x), torch.ones_like(x)", "fib8", draws=3),
    Row("x.new_ones(3, 5)", "fib", draws=2),
    Row("x.new_full((2, 3), 4)", "fi", draws=2),
    Row("x.fill_(3)", "fib8", draws=3, in_place=True),
    Row("x.zero_()", "fib8", draws=3, in_place=True),
    Row("x.new_tensor([1, 2, 3])", "fi", draws=2),
    Row("x.fill_(nan)", "f", draws=1, in_place=True),
    Row("torch.empty_like(x).fill_(-1)", "f", draws=2),
]


def text_of(draw: Draw, name: str) -> str:
    rng = draw.rng
    n, dtype = rng.choice((0, 1, 4, 17, 300, 2049)), draw.dtype("fi")
    whole, real = draw.dtype("w"), draw.dtype("f")
    start, step = rng.randrange(5), rng.choice((1, 2, 3))
    return {
        "arange": f"torch.arange({min(n, 100)}, device=D, dtype=torch.{dtype})",
        "arange long": f"torch.arange({n * 20}, device=D)",
        "arange step": f"torch.arange({start}, {start + min(n, 30) * step}, {step}, device=D, dtype=torch.{dtype})",
        "arange down": f"torch.arange({n}, 0, -{step}, device=D)",
        "arange real": f"torch.arange(0, {rng.randrange(1, 9)}, 0.25, device=D, dtype=torch.{draw.dtype('s')})",
        "linspace": f"torch.linspace(-1, {rng.randrange(1, 9)}, {n}, device=D, dtype=torch.{draw.dtype('s')})",
        "logspace": f"torch.logspace(0, 2, {min(n, 40)}, device=D)",
        "full": f"torch.full(({start}, {n}), {step}, device=D, dtype=torch.{dtype})",
        "full bool": f"torch.full(({n},), True, device=D)",
        "zeros": f"torch.zeros({n}, 3, device=D, dtype=torch.{dtype})",
        "ones": f"torch.ones({n}, device=D, dtype=torch.{draw.dtype('fib')})",
        "eye": f"torch.eye({min(n, 60)}, {start + 1}, device=D, dtype=torch.{dtype})",
        "tensor": f"torch.tensor([[{start}, 2.5], [nan, inf]], device=D, dtype=torch.{real})",
        "scalar": f"torch.tensor({step}, device=D, dtype=torch.{dtype})",
        "tril indices": f"torch.tril_indices({start + 2}, {step + 3}, device=D)",
        "triu indices": f"torch.triu_indices({start + 2}, {step + 3}, 1, device=D)",
        "meshgrid": (
            f"torch.meshgrid(torch.arange({start + 1}, device=D), torch.arange({step + 2}, device=D), indexing='ij')"
        ),
        "cartesian": f"torch.cartesian_prod(torch.arange({start + 1}, device=D), torch.arange({step + 2}, device=D))",
        "combinations": f"torch.combinations(torch.arange({start + 2}, device=D))",
        "windows": f"torch.hann_window({min(n, 400) + 2}, device=D)",
        "causal": f"torch.full(({start + 3}, {start + 3}), -inf, device=D, dtype=torch.{real}).triu(1)",
        "vander": f"torch.vander(torch.arange({start + 1}, device=D, dtype=torch.{whole}))",
    }[name]


NAMES = (
    "arange",
    "arange long",
    "arange step",
    "arange down",
    "arange real",
    "linspace",
    "logspace",
    "full",
    "full bool",
    "zeros",
    "ones",
    "eye",
    "tensor",
    "scalar",
    "tril indices",
    "triu indices",
    "meshgrid",
    "cartesian",
    "combinations",
    "windows",
    "causal",
    "vander",
)


def cases(seed: int) -> list[Case]:
    made = {}
    for name in NAMES:
        for i in range(2):
            draw = Draw(f"{seed}/creation/{name}/{i}")
            case = draw.case("creation", text_of(draw, name))
            made[case.text] = case
    return [*made.values(), *draw_rows("creation", FILLS, seed)]

# SPDX-License-Identifier: MIT
"""What the programs of faulty.py, clean.py and later.py share: models, batches, and a count of turns that takes notes."""
import collections.abc
import ctypes
import random

import torch
from torch import nn

TURNS, WIDTH, BATCH, MIB = 24, 64, 32, 1 << 20
PROGRAMS: dict = {}  # name: (fault or None, function)
NOTES: list = []  # at the end of each turn: held, the most held in it, reserved, in pieces, as PyTorch counts them


def program(fault: str | None):
    def add(function):
        PROGRAMS[function.__name__.replace("_", "-")] = (fault, function)
        return function
    return add


def note() -> None:
    stats = torch.cuda.memory_stats()
    NOTES.append([stats["allocated_bytes.all.current"], stats["allocated_bytes.all.peak"],
                  stats["reserved_bytes.all.current"], stats["inactive_split_bytes.all.current"]])
    torch.cuda.reset_peak_memory_stats()


def turns(n: int = TURNS) -> collections.abc.Iterator[int]:
    """range(n) that takes a note after each turn."""
    torch.cuda.reset_peak_memory_stats()
    for i in range(n):
        yield i
        note()


class Block(nn.Module):
    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = torch.relu(self.up(x))
        return x + self.down(inner)  # FAULT forward-hook


class Model(nn.Module):
    def __init__(self, depth: int = 2, width: int = WIDTH) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def batch(n: int = BATCH, width: int = WIDTH) -> torch.Tensor:
    return torch.randn(n, width, device="cuda")


def training(depth: int = 2, width: int = WIDTH) -> tuple[nn.Module, torch.optim.Optimizer]:
    model = Model(depth, width).cuda()
    return model, torch.optim.SGD(model.parameters(), lr=1e-3)


def loss_of(out: torch.Tensor) -> torch.Tensor:
    return out.square().mean()


def learn(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def mib(n: float) -> torch.Tensor:
    return torch.empty(int(n * MIB), dtype=torch.uint8, device="cuda")


def dice(seed: int) -> random.Random:
    return random.Random(seed)


def leave(room_bytes: int) -> None:
    """Take all but that much of the card, not through PyTorch."""
    torch.cuda.empty_cache()
    ballast = ctypes.c_uint64()
    over = torch.cuda.mem_get_info()[0] // (2 * MIB) * 2 * MIB - room_bytes
    if ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(ballast), ctypes.c_size_t(over)):
        raise SystemExit("no room for the ballast")

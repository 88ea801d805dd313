# SPDX-License-Identifier: MIT
"""
Small training and inference loops, some of which keep memory in each step. The line that keeps it says LEAK.

    steps.py KIND OUT
"""
import collections
import sys

import torch
from torch import nn

STEPS, WIDTH, BATCH = 16, 64, 32


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = torch.relu(self.up(x))
        return x + self.down(inner)  # LEAK leak-hook


class Model(nn.Module):
    def __init__(self, depth: int = 1) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(depth))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            y = block(x)
            x = y * 0.5
        return self.head(x)


def batch(size: int = BATCH) -> torch.Tensor:
    return torch.randn(size, WIDTH, device="cuda")


def train(kind: str) -> None:
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    kept: list = []
    last: collections.deque = collections.deque(maxlen=4)
    by_size: dict = {}
    for step in range(STEPS):
        x = batch()
        out = model(x)
        loss = out.square().mean()
        if kind == "leak-loss":
            total = loss * 1.5  # LEAK leak-loss
            kept.append(total)
        if kind == "leak-inputs":
            kept.append(x.clone())  # LEAK leak-inputs
        if kind == "leak-every-third" and step % 3 == 0:
            kept.append(torch.full((BATCH, 10), step, device="cuda"))  # LEAK leak-every-third
        if kind == "clean-ring":
            last.append(out.detach().clone())
        if kind == "clean-by-size" and step % 4 not in by_size:
            by_size[step % 4] = torch.ones(1000 + step % 4, device="cuda")
        if kind == "clean-accumulate" and step % 4:
            loss.backward()
            continue
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=kind != "clean-zero")
    torch.cuda.memory._dump_snapshot(sys.argv[2])


@torch.no_grad()
def infer(kind: str) -> None:
    model = Model().cuda().eval()
    outputs: list = []
    if kind == "leak-hook":
        model.blocks[0].register_forward_hook(lambda module, args, out: outputs.append(out))
    for step in range(STEPS):
        x = batch(BATCH + (step % 3 if kind == "clean-shapes" else 0))
        out = model(x)
        probabilities = out.softmax(-1)  # LEAK leak-outputs
        if kind == "leak-outputs":
            outputs.append(probabilities)
    torch.cuda.memory._dump_snapshot(sys.argv[2])


def load(kind: str) -> None:
    """Each turn leaves a weight, and none is a step."""
    weights = []
    for _ in range(STEPS):
        whole = torch.randn(WIDTH, WIDTH, device="cuda")
        half = whole.half()
        weights.append(half)
    torch.cuda.memory._dump_snapshot(sys.argv[2])


def first_forward(kind: str) -> None:
    """Every layer leaves what its backward pass needs."""
    model = Model(depth=STEPS).cuda()
    x = batch()
    out = model(x)
    loss = out.sum()
    torch.cuda.memory._dump_snapshot(sys.argv[2])
    del loss


def main() -> None:
    torch.empty(1, device="cuda")
    torch.cuda.memory._record_memory_history(stacks="python")
    kind = sys.argv[1]
    {"clean-load": load, "clean-forward": first_forward, "leak-hook": infer, "leak-outputs": infer, "clean-infer": infer,
     "clean-shapes": infer}.get(kind, train)(kind)


main()

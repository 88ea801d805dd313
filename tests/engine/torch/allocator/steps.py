# SPDX-License-Identifier: MIT
"""
A training loop that keeps memory in every third step (leak-every-third) or the last four outputs (clean-ring), for the
tests of `plimsoll trace`; ../habits has sixty more programs.

    steps.py KIND OUT
"""
import collections
import sys

import torch
from torch import nn

STEPS, WIDTH, BATCH = 16, 64, 32


def train(kind: str) -> None:
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    kept: list = []
    last: collections.deque = collections.deque(maxlen=4)
    for step in range(STEPS):
        x = torch.randn(BATCH, WIDTH, device="cuda")
        out = model(x)
        loss = out.square().mean()
        if kind == "leak-every-third" and step % 3 == 0:
            kept.append(torch.full((BATCH, 10), step, device="cuda"))
        if kind == "clean-ring":
            last.append(out.detach().clone())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.memory._dump_snapshot(sys.argv[2])


torch.empty(1, device="cuda")
torch.cuda.memory._record_memory_history(stacks="python")
train(sys.argv[1])

# SPDX-License-Identifier: MIT
"""
Trains: four rounds to each step of an optimizer, which is called as PyTorch's are; `train.py N` ends after N steps,
else never, and `train.py N M` after M more rounds.
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "like"))

import torch.optim.optimizer  # noqa: E402

import card  # noqa: E402


def backward() -> None:
    for kernel in range(20):
        card.launch(kernel)
    card.wait()


optimizer = torch.optim.optimizer.Optimizer()
card.alloc(100)
n_steps = int(sys.argv[1]) if len(sys.argv) > 1 else -1
while n_steps != 0:
    n_steps -= 1
    for _ in range(4):
        backward()
        time.sleep(0.005)
    optimizer.step()
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 0):
    backward()

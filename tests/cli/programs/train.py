# SPDX-License-Identifier: MIT
"""Trains for ever: four rounds to each step of an optimizer, which is called as PyTorch's are."""
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
while True:
    for _ in range(4):
        backward()
        time.sleep(0.005)
    optimizer.step()

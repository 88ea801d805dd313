# SPDX-License-Identifier: MIT
"""Train a chess policy network on self-play positions; the batch is halved until a step fits the card."""
import argparse
import gc
import math
import sys

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(x + self.body(x))


def step(net, optimizer, batch, temperature):
    boards = torch.zeros(batch, 112, 8, 8, device="cuda")
    moves = torch.zeros(batch, dtype=torch.long, device="cuda")
    loss = nn.functional.cross_entropy(net(boards) / temperature, moves)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def fitting_batch(net, optimizer, batch):
    while batch:
        try:
            step(net, optimizer, batch, 1.0)
            return batch
        except torch.OutOfMemoryError as error:
            print(f"! batch {batch} is out of memory: {str(error).splitlines()[0][:160]}")
        optimizer.zero_grad()
        gc.collect()
        torch.cuda.empty_cache()
        batch //= 2
    sys.exit("not even one board fits")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--cooling", type=float, default=0.9, help="factor of the temperature after each step")
    parser.add_argument("--floor", type=float, default=0.01)
    args = parser.parse_args()
    net = nn.Sequential(nn.Conv2d(112, args.width, 3, padding=1), *(Residual(args.width) for _ in range(args.blocks)),
                        nn.Flatten(), nn.Linear(64 * args.width, 1858)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    batch = fitting_batch(net, optimizer, args.batch)
    print(f"batch {batch}")
    temperature = 1.0
    for number in range(1, args.steps + 1):
        temperature *= args.cooling
        if temperature < args.floor:
            print(torch.cuda.memory_summary(abbreviated=True))
            raise FloatingPointError(f"temperature {temperature:.3g} in step {number} is below the floor: loss would overflow")
        loss = step(net, optimizer, batch, temperature)
        if not math.isfinite(loss):
            raise FloatingPointError(f"loss is {loss}")
        print(f"step {number:3d}  T {temperature:.3f}  loss {loss:.4f}  mem {torch.cuda.max_memory_allocated() / 2**20:.0f}M")
    print("training finished")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Predict the yield of fields from a season of satellite passes, with a recurrent network on the CPU."""
import argparse
import datetime

import numpy as np
import psutil
import torch
from torch import nn

PASSES, BANDS = 36, 10


def say(text):
    print(f"{datetime.datetime.now():%Y-%m-%dT%H:%M:%S} {text}", flush=True)


def rss_mib():
    return psutil.Process().memory_info().rss >> 20


def read_county(county, fields):
    """Reflectances of all fields of a county, and their yields in tonnes per hectare."""
    rng = np.random.default_rng(county)
    reflectance = rng.random((fields, PASSES, BANDS), dtype=np.float32)
    return reflectance, reflectance.mean((1, 2)) * 8


class YieldNetwork(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.recurrent = nn.GRU(BANDS, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, passes):
        return self.head(self.recurrent(passes)[1][-1])[:, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counties", type=int, default=24)
    parser.add_argument("--fields", type=int, default=40000, help="fields per county")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=256)
    args = parser.parse_args()
    torch.manual_seed(1)
    say(f"start, RSS {rss_mib()} MiB, torch {torch.__version__}, {torch.get_num_threads()} threads")
    passes, yields = [], []
    for county in range(args.counties):
        reflectance, tonnes = read_county(county, args.fields)
        passes.append(torch.from_numpy(reflectance))
        yields.append(torch.from_numpy(tonnes))
        if county % 4 == 3:
            say(f"read {county + 1}/{args.counties} counties, RSS {rss_mib()} MiB")
    network = YieldNetwork()
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        for step in range(args.steps):
            county = torch.randint(args.counties, ()).item()
            chosen = torch.randint(args.fields, (args.batch,))
            loss = nn.functional.l1_loss(network(passes[county][chosen]), yields[county][chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        say(f"epoch {epoch + 1}: mean error {loss.item():.3f} t/ha, RSS {rss_mib()} MiB")
    say("model is written")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Train a small network that tells bird songs apart; decoded clips stay in the loader's workers."""
import argparse
import logging
import os

import psutil
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(message)s")
log = logging.getLogger("birdsong")


class Clips(Dataset):
    def __init__(self, count, seconds, rate=32000):
        self.count, self.samples, self.decoded = count, seconds * rate, {}

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index not in self.decoded:
            generator = torch.Generator().manual_seed(index)
            self.decoded[index] = torch.randn(self.samples, generator=generator)
        start = torch.randint(self.samples - 64000, ()).item()
        excerpt = self.decoded[index][start:start + 64000]
        spectrum = torch.stft(excerpt, 512, 2048, window=torch.ones(512), return_complex=True).abs()
        return spectrum.log1p()[None], index % 6


def memory():
    rss = psutil.Process(os.getpid()).memory_info().rss
    return f"{rss >> 20} MiB, host {psutil.virtual_memory().percent:.0f} % in use"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 5, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Clips(args.clips, args.seconds), batch_size=args.batch, num_workers=args.workers, shuffle=True)
    for step, (spectra, kinds) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(spectra), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            log.info("step %d loss %.3f, rss of main %s", step, loss.item(), memory())
    log.info("epoch done")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Train a bird classifier from photos with loader workers."""
import argparse
import subprocess

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    """Photos that are decoded once and then kept by each worker."""

    def __init__(self, count, side, keep):
        self.count, self.side, self.keep, self.kept = count, side, keep, {}

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index in self.kept:
            return self.kept[index], index % 200
        photo = torch.rand(3, self.side, self.side)
        if self.keep:
            self.kept[index] = photo
        return photo, index % 200


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--photos", type=int, default=512)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--prefetch", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep decoded photos in RAM")
    parser.add_argument("--df", action="store_true", help="say how full /dev/shm is")
    args = parser.parse_args()
    if args.df:
        print(subprocess.run(["df", "-h", "/dev/shm"], capture_output=True, text=True, check=True).stdout, end="")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = nn.Sequential(nn.Conv2d(3, 8, 7, stride=8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                        nn.Linear(128, 200)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(Photos(args.photos, args.side, args.keep), batch_size=args.batch_size, num_workers=args.workers,
                        prefetch_factor=args.prefetch, persistent_workers=True)
    print(f"{args.photos} photos, {args.workers} workers, batch {args.batch_size}, {device}")
    for epoch in range(args.epochs):
        for number, (photos, species) in enumerate(loader):
            loss = nn.functional.cross_entropy(net(photos.to(device)), species.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number % 4 == 0:
                print(f"epoch {epoch} batch {number}/{len(loader)} loss {loss.item():.3f}")
    print("finished")


if __name__ == "__main__":
    main()

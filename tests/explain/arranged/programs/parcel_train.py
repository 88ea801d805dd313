# SPDX-License-Identifier: MIT
"""Train a classifier of damaged parcels on photos from the conveyor."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, count, side):
        self.count, self.side = count, side

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        photo = torch.full((3, self.side, self.side), float(index % 17))
        return photo, index % 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=256)
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    loader = DataLoader(Photos(args.photos, args.side), args.batch_size, num_workers=args.workers,
                        prefetch_factor=2 if args.workers else None)
    model = nn.Sequential(nn.Conv2d(3, 8, 7, stride=8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    print(f"{len(loader)} batches of {args.batch_size} x 3 x {args.side} x {args.side}, {args.workers} workers", flush=True)
    for number, (photos, damaged) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(photos), damaged)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"batch {number:4d}  loss {loss.item():.4f}", flush=True)
    print("finished")


if __name__ == "__main__":
    main()

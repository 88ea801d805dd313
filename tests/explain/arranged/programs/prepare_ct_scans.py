# SPDX-License-Identifier: MIT
"""Denoise CT scans on the card and keep the chest of each there, for the registration that follows."""
import argparse
import os

import torch
from tqdm import tqdm


def scan(slices):
    """One scan in Hounsfield units."""
    return torch.zeros(slices, 512, 512, device="cuda").sub_(1000)


def denoise(volume):
    return volume.clamp(-1000, 1500)


def chest(volume, share):
    first = int(len(volume) * (1 - share) / 2)
    return volume[first:first + int(len(volume) * share)].clone()


def gib(number):
    return f"{number / 2**30:.2f}G"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scans", type=int, default=10)
    parser.add_argument("--slices", type=int, default=512)
    parser.add_argument("--chest", type=float, default=0.57, help="share of the slices that is kept")
    args = parser.parse_args()
    print("allocator settings:", os.environ.get("PYTORCH_CUDA_ALLOC_CONF") or "default")
    print(f"{args.scans} scans of {args.slices} slices, {gib(args.slices * 512 * 512 * 4)} each")
    chests = []
    progress = tqdm(range(args.scans), mininterval=0, ncols=100, desc="scans")
    for _ in progress:
        volume = scan(args.slices)
        clean = denoise(volume)
        del volume
        chests.append(chest(clean, args.chest))
        del clean
        progress.set_postfix(kept=gib(sum(c.nbytes for c in chests)), reserved=gib(torch.cuda.memory_reserved()))
    template = sum(float(c.mean()) for c in chests) / len(chests)
    print(f"registration template: {template:.1f} HU from {len(chests)} scans")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Embed a museum's catalogue on the CPU and write the nearest neighbours of every object."""
import argparse
import logging
import resource

import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(levelname)-7s %(name)s | %(message)s")
log = logging.getLogger("catalogue")


def neighbours(vectors, count):
    similarity = vectors @ vectors.T
    similarity.fill_diagonal_(-2)
    return similarity.topk(count, dim=1).indices


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=int, default=5000)
    parser.add_argument("--width", type=int, default=64)
    args = parser.parse_args()
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    log.info("address space limit: %s", "none" if soft == resource.RLIM_INFINITY else f"{soft / 2**30:.2f} GiB")
    torch.manual_seed(1)
    encoder = nn.Sequential(nn.Linear(300, 256), nn.Tanh(), nn.Linear(256, args.width))
    with torch.no_grad():
        vectors = nn.functional.normalize(encoder(torch.randn(args.objects, 300)), dim=1)
    log.info("embedded %d objects, %.1f MiB", len(vectors), vectors.nbytes / 2**20)
    found = neighbours(vectors, 10)
    torch.save(found, "neighbours.pt")
    log.info("wrote neighbours.pt %s", tuple(found.shape))


if __name__ == "__main__":
    main()

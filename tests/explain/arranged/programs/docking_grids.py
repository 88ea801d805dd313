# SPDX-License-Identifier: MIT
"""Dock ligands to a protein: potential grids of the pockets stay on the GPU, the final pass works on all of them."""
import argparse
import logging
import os

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
MIB = 1 << 20


def make_grid(mib):
    return tf.fill((mib, MIB // 4), 0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pockets", type=int, default=64)
    parser.add_argument("--grid-mib", type=int, default=128)
    parser.add_argument("--final-mib", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    logging.info("allocator %s", os.environ.get("TF_GPU_ALLOCATOR", "default"))
    rng = np.random.default_rng(args.seed)
    grids, scores = {}, {}
    for pocket in range(args.pockets):
        grids[pocket] = make_grid(args.grid_mib + int(rng.integers(-8, 9)))
        scores[pocket] = float(tf.reduce_mean(grids[pocket][0]))
    logging.info("%d pockets scored, grids take %d MiB", len(grids), sum(grid.shape[0] for grid in grids.values()))
    promising = set(rng.permutation(args.pockets)[:args.pockets // 3].tolist())
    for pocket in set(grids) - promising:
        del grids[pocket]
    kept = sum(grid.shape[0] for grid in grids.values())
    logging.info("%d promising pockets stay, %d MiB", len(grids), kept)
    logging.info("final pass: %d MiB", args.final_mib)
    final = make_grid(args.final_mib)
    energies = [float(tf.reduce_min(final[0] + grid[0])) for grid in grids.values()]
    logging.info("best energy %.2f", min(energies))


if __name__ == "__main__":
    main()

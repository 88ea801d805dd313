# SPDX-License-Identifier: MIT
"""Shade the relief of map tiles in parallel and print the mean brightness of each."""
import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np


def relief(seed, side):
    rng = np.random.default_rng(seed)
    heights = np.zeros((side, side))
    for octave in range(1, 5):
        phase_x, phase_y = rng.uniform(0, 6.28, 2)
        axis = np.linspace(0, 6.28 * octave, side)
        heights += np.sin(axis + phase_x)[:, None] * np.cos(axis + phase_y)[None, :] * 400 / octave
    return heights


def shade(job):
    seed, side = job
    heights = relief(seed, side)
    down, right = np.gradient(heights, 30.0)
    slope = np.arctan(np.hypot(down, right))
    aspect = np.arctan2(-right, down)
    light = np.sin(np.radians(45)) * np.cos(slope) + np.cos(np.radians(45)) * np.sin(slope) * np.cos(np.radians(315) - aspect)
    return seed, float(np.clip(light, 0, 1).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiles", type=int, default=6)
    parser.add_argument("--side", type=int, default=2048)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    with ProcessPoolExecutor(args.processes) as pool:
        for seed, mean in pool.map(shade, [(seed, args.side) for seed in range(args.tiles)]):
            print(f"tile {seed:03d}  mean brightness {mean:.4f}", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Answer requests of hikers: what can be seen from a summit? Viewsheds are computed on the GPU and kept for the next hiker."""
import argparse
import collections
import pathlib

import numpy as np
from numba import cuda


@cuda.jit
def line_of_sight(heights, row, column, seen):
    i, j = cuda.grid(2)
    if i < heights.shape[0] and j < heights.shape[1]:
        steps = max(abs(i - row), abs(j - column))
        steepest = -1e9
        slope = 0.0
        for step in range(1, min(steps, 64)):
            r, c = row + (i - row) * step // steps, column + (j - column) * step // steps
            slope = (heights[r, c] - heights[row, column]) / step
            steepest = max(steepest, slope)
        seen[i, j] = slope - steepest


class Viewsheds:
    def __init__(self, heights, keep):
        self.heights, self.keep = heights, keep
        self.ready = collections.OrderedDict()

    def get(self, summit):
        if summit in self.ready:
            self.ready.move_to_end(summit)
            return self.ready[summit], "ready"
        if self.keep and len(self.ready) >= self.keep:
            self.ready.popitem(last=False)
        side = self.heights.shape[0]
        seen = cuda.device_array_like(self.heights)
        line_of_sight[(-(-side // 16), -(-side // 16)), (16, 16)](self.heights, summit * 37 % side, summit * 91 % side, seen)
        self.ready[summit] = seen
        return seen, "computed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=6000, help="cells of the height model, each way")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--summits", type=int, default=150)
    parser.add_argument("--keep", type=int, default=0, help="viewsheds to keep; 0: all")
    parser.add_argument("--answers", type=pathlib.Path, default=pathlib.Path("answers.csv"))
    args = parser.parse_args()
    heights = cuda.to_device(np.zeros((args.side, args.side), np.float32))
    print(f"height model {args.side} x {args.side}, {heights.nbytes >> 20} MiB")
    viewsheds = Viewsheds(heights, args.keep)
    rng = np.random.default_rng(args.side)
    answers = []
    for number, summit in enumerate(rng.integers(0, args.summits, args.requests).tolist()):
        seen, how = viewsheds.get(summit)
        answers.append((number, summit, float(seen[0, 0])))
        if number % 8 == 0:
            free, total = cuda.current_context().get_memory_info()
            print(f"#{number:<4d} summit {summit:<4d} {how:<9s} kept={len(viewsheds.ready):<4d} "
                  f"free={free >> 20} MiB of {total >> 20}")
    with args.answers.open("w", encoding="utf-8") as file:
        for answer in answers:
            print(*answer, sep=",", file=file)
    print(f"{len(answers)} answers in {args.answers}")


if __name__ == "__main__":
    main()

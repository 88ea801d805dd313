# SPDX-License-Identifier: MIT
"""Price Asian options by simulating paths on the GPU with Numba."""
import argparse
import sys

import numpy as np
from numba import cuda


@cuda.jit
def simulate(paths, start, drift, volatility):
    i = cuda.grid(1)
    if i < paths.shape[0]:
        price, seed = start, i * 2654435761 % 4294967296
        for j in range(paths.shape[1]):
            seed = (1664525 * seed + 1013904223) % 4294967296
            price *= 1.0 + drift + volatility * (seed / 2147483648.0 - 1.0)
            paths[i, j] = price


@cuda.jit
def payoff(paths, strike, result):
    i = cuda.grid(1)
    if i < paths.shape[0]:
        total = 0.0
        for j in range(paths.shape[1]):
            total += paths[i, j]
        result[i] = max(total / paths.shape[1] - strike, 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=252)
    parser.add_argument("--options", type=int, default=4)
    parser.add_argument("--chunk", type=int, default=0, help="paths at a time")
    args = parser.parse_args()
    chunk = args.chunk or args.paths
    print("strike  price", file=sys.stderr)
    for option in range(args.options):
        prices = []
        for start in range(0, args.paths, chunk):
            count = min(chunk, args.paths - start)
            paths = cuda.device_array((count, args.days), dtype=np.float64)
            result = cuda.device_array(count, dtype=np.float64)
            blocks = (count + 255) // 256
            simulate[blocks, 256](paths, 100.0, 1e-4, 0.02)
            payoff[blocks, 256](paths, 90.0 + 5 * option, result)
            prices.append(result.copy_to_host().mean())
            del paths, result
        print(f"{90 + 5 * option:6d}  {np.mean(prices):.4f}", file=sys.stderr)


if __name__ == "__main__":
    main()

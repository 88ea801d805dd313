# SPDX-License-Identifier: MIT
"""Align short reads of DNA to a reference with a banded Smith-Waterman kernel (Numba)."""
import argparse

import numba
import numpy as np
from numba import cuda
from rich.console import Console
from rich.table import Table


def make_kernel(band):
    @cuda.jit
    def align(reads, reference, scores):
        row = cuda.shared.array((band, 4), dtype=numba.float64)
        i = cuda.grid(1)
        t = cuda.threadIdx.x
        if i < reads.shape[0]:
            for k in range(4):
                row[t % band, k] = 0.0
            for j in range(reads.shape[1]):
                same = 2.0 if reads[i, j] == reference[(i + j) % reference.shape[0]] else -1.0
                row[t % band, j % 4] = max(row[t % band, (j + 3) % 4] + same, 0.0)
            scores[i] = row[t % band, 0]

    return align


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reads", type=int, default=200_000)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--band", type=int, default=256)
    args = parser.parse_args()
    console = Console(width=100)
    free, total = cuda.current_context().get_memory_info()
    table = Table(title="GPU")
    for column in ("free GiB", "total GiB", "reads", "band"):
        table.add_column(column, justify="right")
    table.add_row(f"{free / 2**30:.2f}", f"{total / 2**30:.2f}", f"{args.reads}", f"{args.band}")
    console.print(table)
    reads = cuda.to_device(np.zeros((args.reads, args.length), np.uint8))
    reference = cuda.to_device(np.zeros(1_000_000, np.uint8))
    scores = cuda.device_array(args.reads, np.float64)
    make_kernel(args.band)[(args.reads + 127) // 128, 128](reads, reference, scores)
    console.print(f"mean score {scores.copy_to_host().mean():.2f}")


if __name__ == "__main__":
    main()

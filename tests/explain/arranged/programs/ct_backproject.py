# SPDX-License-Identifier: MIT
"""Reconstruct a fossil from X-ray projections by back projection on the GPU."""
import argparse
import math
import sys

import numpy as np
from numba import cuda
from rich.console import Console
from rich.table import Table

console = Console(width=100, highlight=False)


@cuda.jit
def back_project(sinogram, cosines, sines, volume, first):
    i, j, k = cuda.grid(3)
    if i < volume.shape[0] and j < volume.shape[1] and k < volume.shape[2]:
        half = volume.shape[1] / 2
        total = 0.0
        for angle in range(cosines.shape[0]):
            u = int((j - half) * cosines[angle] + (k - half) * sines[angle] + half)
            if 0 <= u < sinogram.shape[2]:
                total += sinogram[angle, first + i, u]
        volume[i, j, k] = total / cosines.shape[0]


def show_plan(args, free, total, needed):
    table = Table(title="Reconstruction", show_header=False)
    rows = [("GPU", cuda.get_current_device().name), ("memory of the GPU", f"{total / 2**20:,.0f} MiB"),
            ("free before we start", f"{free / 2**20:,.0f} MiB"), ("volume", f"{args.side} x {args.side} x {args.side} voxels"),
            ("projections", f"{args.angles} x {args.side} x {args.side}"), ("needed in one piece", f"{needed / 2**20:,.0f} MiB")]
    for row in rows:
        table.add_row(*row)
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--angles", type=int, default=360)
    parser.add_argument("--slabs", default="1", help="pieces of the volume, or auto for as many as the free memory asks for")
    args = parser.parse_args()
    free, total = cuda.current_context().get_memory_info()
    voxels, pixels = 4 * args.side**3, 4 * args.angles * args.side**2
    show_plan(args, free, total, voxels + pixels)
    if args.slabs == "auto":
        slabs = math.ceil(voxels / max(0.8 * free - pixels, voxels / args.side))
        if slabs > 1:
            console.print(f"[yellow]not enough GPU memory for the volume in one piece ({voxels / 2**30:.1f} GiB): {slabs} slabs")
    else:
        slabs = int(args.slabs)
    angles = np.linspace(0, np.pi, args.angles, endpoint=False, dtype=np.float32)
    sinogram = cuda.device_array((args.angles, args.side, args.side), np.float32)
    console.print("projections are on the GPU")
    cosines, sines = cuda.to_device(np.cos(angles)), cuda.to_device(np.sin(angles))
    height = math.ceil(args.side / slabs)
    for first in range(0, args.side, height):
        rows = min(height, args.side - first)
        volume = cuda.device_array((rows, args.side, args.side), np.float32)
        blocks = (rows, math.ceil(args.side / 16), math.ceil(args.side / 16))
        back_project[blocks, (1, 16, 16)](sinogram, cosines, sines, volume, first)
        cuda.synchronize()
        console.print(f"slices {first} to {first + rows - 1} done, brightest voxel {float(volume[0, 0, 0]):.3f}")
        del volume
    console.print("[green]fossil.vol complete")
    return 0


if __name__ == "__main__":
    sys.exit(main())

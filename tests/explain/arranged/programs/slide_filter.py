# SPDX-License-Identifier: MIT
"""Smooth a whole slide image on the GPU and count bright pixels."""
import argparse
import logging

import numpy as np
from numba import cuda

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("slides")


@cuda.jit
def box_filter(source, target):
    x, y = cuda.grid(2)
    if 0 < x < source.shape[0] - 1 and 0 < y < source.shape[1] - 1:
        total = 0.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                total += source[x + i, y + j]
        target[x, y] = total / 9.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=8192)
    args = parser.parse_args()
    device = cuda.get_current_device()
    free, total = cuda.current_context().get_memory_info()
    log.info("device %s, %.2f of %.2f GiB free", device.name, free / 2**30, total / 2**30)
    slide = np.zeros((args.side, args.side), dtype=np.float32)
    log.info("slide of %d x %d, %.2f GiB", *slide.shape, slide.nbytes / 2**30)
    source = cuda.to_device(slide)
    target = cuda.device_array_like(source)
    box_filter[(args.side // 16, args.side // 16), (16, 16)](source, target)
    log.info("bright pixels: %d", int((target.copy_to_host() > 0.5).sum()))


if __name__ == "__main__":
    main()

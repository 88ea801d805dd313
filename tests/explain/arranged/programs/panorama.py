# SPDX-License-Identifier: MIT
"""Join overlapping photos of a facade to one panorama and blend the seams with a Laplacian pyramid (OpenCV)."""
import argparse
import resource
import time

import cv2
import numpy as np


def pyramid(image, depth):
    levels = [image]
    for _ in range(depth):
        levels.append(cv2.pyrDown(levels[-1]))
    bands = [cv2.subtract(fine, cv2.pyrUp(coarse, dstsize=fine.shape[1::-1])) for fine, coarse in zip(levels, levels[1:])]
    return bands + [levels[-1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--photos", type=int, default=6)
    parser.add_argument("--width", type=int, default=4000)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--depth", type=int, default=5)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    print(f"OpenCV {cv2.__version__}; address space limit {'none' if soft < 0 else f'{soft / 2**20:.0f} MiB'}")
    step = args.width * 2 // 3
    canvas_width = step * (args.photos - 1) + args.width
    print(f"canvas {canvas_width} x {args.height}, {canvas_width * args.height * 12 / 2**20:.0f} MiB in float32")
    total = None
    for number in range(args.photos):
        start = time.perf_counter()
        canvas = np.zeros((args.height, canvas_width, 3), np.float32)
        photo = np.random.default_rng(number).random((args.height, args.width, 1), np.float32)
        canvas[:, number * step:number * step + args.width] = cv2.GaussianBlur(photo, (5, 5), 0)[..., None]
        bands = pyramid(canvas, args.depth)
        total = bands if total is None else [cv2.add(one, other) for one, other in zip(total, bands)]
        print(f"photo {number + 1}/{args.photos}: {len(bands)} bands, {time.perf_counter() - start:.1f} s", flush=True)
    result = total[-1]
    for band in reversed(total[:-1]):
        result = cv2.add(cv2.pyrUp(result, dstsize=band.shape[1::-1]), band)
    print(f"panorama done, mean {result.mean():.3f}")


if __name__ == "__main__":
    main()

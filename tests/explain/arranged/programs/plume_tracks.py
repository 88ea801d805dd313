# SPDX-License-Identifier: MIT
"""Track particles of a volcanic plume hour by hour with Numba and count where they come down."""
import argparse
import json

import numpy as np
from numba import cuda


@cuda.jit
def drift(before, after, wind):
    i = cuda.grid(1)
    if i < before.shape[0]:
        after[i, 0] = before[i, 0] + wind
        after[i, 1] = before[i, 1] * 0.99
        after[i, 2] = max(before[i, 2] - 12.0, 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=4_000_000)
    parser.add_argument("--hours", type=int, default=72)
    parser.add_argument("--history", choices=["all", "last"], default="all")
    parser.add_argument("--threads", type=int, default=256)
    args = parser.parse_args()
    print(json.dumps({"card": str(cuda.get_current_device().name), "particles": args.particles}))
    tracks = [cuda.to_device(np.zeros((args.particles, 3), np.float32))]
    for hour in range(1, args.hours + 1):
        after = cuda.device_array_like(tracks[-1])
        drift[(args.particles + args.threads - 1) // args.threads, args.threads](tracks[-1], after, 0.3)
        tracks.append(after)
        if args.history == "last":
            del tracks[0]
        if hour % 12 == 0:
            free, total = cuda.current_context().get_memory_info()
            print(json.dumps({"hour": hour, "tracks": len(tracks), "free_mb": free >> 20, "total_mb": total >> 20}))
    landed = int((tracks[-1].copy_to_host()[:, 2] == 0).sum())
    print(json.dumps({"landed": landed}))


if __name__ == "__main__":
    main()

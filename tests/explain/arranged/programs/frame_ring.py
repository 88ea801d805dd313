# SPDX-License-Identifier: MIT
"""Pass camera frames from a capture process to a detector through a ring in shared memory."""
import argparse
import multiprocessing as mp
from multiprocessing import shared_memory

import numpy as np


def capture(name, shape, frames, ready):
    ring = shared_memory.SharedMemory(name=name)
    slots = np.ndarray(shape, dtype=np.uint8, buffer=ring.buf)
    for number in range(frames):
        slots[number % shape[0]] = number % 251
        ready.put(number)
    ready.put(None)
    del slots
    ring.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--width", type=int, default=1920)
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--frames", type=int, default=64)
    args = parser.parse_args()
    shape = (args.slots, args.height, args.width, 3)
    ring = shared_memory.SharedMemory(create=True, size=int(np.prod(shape)))
    slots = np.ndarray(shape, dtype=np.uint8, buffer=ring.buf)
    slots[:] = 0
    print(f"ring {ring.name}: {shape}, {ring.size / 2**20:.0f} MiB", flush=True)
    ready = mp.Queue(args.slots // 2)
    camera = mp.Process(target=capture, args=(ring.name, shape, args.frames, ready))
    camera.start()
    bright = 0
    while (number := ready.get()) is not None:
        bright += slots[number % args.slots].mean() > 128
    camera.join()
    print(f"{args.frames} frames, {bright} bright")
    del slots
    ring.close()
    ring.unlink()


if __name__ == "__main__":
    main()

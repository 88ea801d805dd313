# SPDX-License-Identifier: MIT
"""Correlate sensors of a bridge; in one piece if memory allows, else in blocks of rows."""
import argparse
import logging
import warnings

import numpy as np

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
log = logging.getLogger("bridge.correlate")


def strongest(normal, start, stop):
    block = normal[start:stop] @ normal.T
    block[np.arange(stop - start), np.arange(start, stop)] = 0
    return float(np.abs(block).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sensors", type=int, default=4000)
    parser.add_argument("--samples", type=int, default=64)
    args = parser.parse_args()
    rng = np.random.default_rng(12)
    values = rng.normal(size=(args.sensors, args.samples))
    values -= values.mean(axis=1, keepdims=True)
    normal = values / np.linalg.norm(values, axis=1, keepdims=True)
    rows = args.sensors
    while True:
        try:
            best = max(strongest(normal, start, min(start + rows, args.sensors)) for start in range(0, args.sensors, rows))
            break
        except MemoryError as error:
            log.warning("%s", error)
            rows = max(rows // 8, 1)
            warnings.warn(f"out of memory, going on with blocks of {rows} rows", ResourceWarning, stacklevel=1)
            log.warning("retrying with %d rows at a time", rows)
    log.info("strongest correlation %.3f with blocks of %d rows", best, rows)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Harmonic analysis of tide gauges: joblib workers share the readings through memory-mapped files."""
import argparse
import os
import shutil

import numpy as np
from joblib import Parallel, delayed

HOURS = np.array([12.4206, 12.0, 12.6583, 23.9345, 25.8193])


def fit(readings, hours):
    angles = 2 * np.pi * hours[:, None] / HOURS
    design = np.hstack([np.cos(angles), np.sin(angles), np.ones((len(hours), 1))])
    return np.linalg.lstsq(design.T @ design, design.T @ readings, rcond=None)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gauges", type=int, default=30)
    parser.add_argument("--readings", type=int, default=500000)
    args = parser.parse_args()
    folder = os.environ.get("JOBLIB_TEMP_FOLDER", "/tmp")
    usage = shutil.disk_usage(folder)
    print(f"scratch for shared arrays: {folder}, {usage.free / 1e6:.0f} of {usage.total / 1e6:.0f} MB free")
    hours = np.arange(args.readings) / 6.0
    rng = np.random.default_rng(2)
    series = [np.cos(hours / 2) + rng.normal(0, 0.1, args.readings) for _ in range(args.gauges)]
    print(f"{args.gauges} gauges of {series[0].nbytes / 1e6:.1f} MB")
    results = Parallel(n_jobs=2, max_nbytes="1M", verbose=5)(delayed(fit)(one, hours) for one in series)
    print("mean M2 amplitude:", float(np.mean([np.hypot(result[0], result[5]) for result in results])))


if __name__ == "__main__":
    main()

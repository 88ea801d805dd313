# SPDX-License-Identifier: MIT
"""Fit the baseline of Raman spectra by least squares, on the GPU with CuPy if there is one."""
import argparse
import logging

import cupy
import numpy as np

logging.basicConfig(level=logging.INFO, format="%(name)s:%(levelname)s:%(message)s")
log = logging.getLogger("spectra")


def pick_library(device):
    if device == "gpu":
        log.info("GPU memory pool limit: %d bytes", cupy.get_default_memory_pool().get_limit())
        return cupy
    log.info("numpy %s on the CPU", np.__version__)
    return np


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="gpu")
    parser.add_argument("--spectra", type=int, default=20000)
    parser.add_argument("--points", type=int, default=1024)
    parser.add_argument("--degree", type=int, default=5)
    args = parser.parse_args()
    xp = pick_library(args.device)
    axis = xp.linspace(-1.0, 1.0, args.points)
    basis = xp.stack([axis**power for power in range(args.degree + 1)], axis=1)
    log.info("basis %s", basis.shape)
    spectra = xp.ones((args.points, args.spectra))
    log.info("spectra %s, %.2f GiB", spectra.shape, spectra.nbytes / 2**30)
    coefficients = xp.linalg.solve(basis.T @ basis, basis.T @ spectra)
    rest = spectra - basis @ coefficients
    log.info("root mean square of the rest %.3g", float(xp.sqrt((rest**2).mean())))


if __name__ == "__main__":
    main()

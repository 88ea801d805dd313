# SPDX-License-Identifier: MIT
"""Compute the masses of peptides with a compiled kernel in parallel workers."""
import argparse
import ctypes
import subprocess

from joblib import Parallel, delayed

KERNEL = """
#include <stddef.h>
double mass(const char *peptide, size_t length, const double *table, int shift)
{
    double sum = 18.0106;
    for (size_t i = 0; i < length; i++)
        sum += table[(size_t)(peptide[i] - 'A') << shift];
    return sum;
}
"""


def masses(library, first, count, shift):
    kernel = ctypes.CDLL(library).mass
    kernel.restype = ctypes.c_double
    table = (ctypes.c_double * 26)(*[57.0 + letter * 4.3 for letter in range(26)])
    total = 0.0
    for number in range(first, first + count):
        peptide = bytes(65 + (number * step) % 26 for step in range(1, 30))
        total += kernel(peptide, ctypes.c_size_t(len(peptide)), table, shift)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peptides", type=int, default=40000)
    parser.add_argument("--chunk", type=int, default=5000)
    parser.add_argument("--shift", type=int, default=0, help="binary logarithm of the stride of the table")
    args = parser.parse_args()
    with open("kernel.c", "w", encoding="ascii") as file:
        file.write(KERNEL)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", "kernel.so", "kernel.c"], check=True)
    print(f"{args.peptides} peptides in chunks of {args.chunk}")
    parts = Parallel(n_jobs=2, verbose=10)(delayed(masses)("./kernel.so", first, args.chunk, args.shift)
                                           for first in range(0, args.peptides, args.chunk))
    print(f"mean mass {sum(parts) / args.peptides:.2f} Da")


if __name__ == "__main__":
    main()

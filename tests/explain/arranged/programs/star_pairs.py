# SPDX-License-Identifier: MIT
"""Find close pairs of stars in a catalogue by their angular separation."""
import argparse
import time

import numpy as np


def catalogue(count, rng):
    """Right ascension and declination in radians, even over the sky."""
    return rng.uniform(0, 2 * np.pi, count), np.arcsin(rng.uniform(-1, 1, count))


def vectors(right_ascension, declination):
    return np.stack([np.cos(declination) * np.cos(right_ascension), np.cos(declination) * np.sin(right_ascension),
                     np.sin(declination)], axis=1)


def close_pairs(stars, limit):
    cosines = stars @ stars.T
    separations = np.arccos(np.clip(cosines, -1, 1))
    first, second = np.nonzero(separations < limit)
    keep = first < second
    return first[keep], second[keep], separations


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stars", type=int, default=6000)
    parser.add_argument("--arcmin", type=float, default=5.0)
    args = parser.parse_args()
    rng = np.random.default_rng(2024)
    start = time.time()
    stars = vectors(*catalogue(args.stars, rng))
    print(f"{args.stars} stars read in {time.time() - start:.2f} s")
    first, second, _ = close_pairs(stars, np.radians(args.arcmin / 60))
    print(f"{len(first)} pairs closer than {args.arcmin} arcmin")
    for i, j in list(zip(first, second))[:5]:
        print(f"  {i:7d} {j:7d}")


if __name__ == "__main__":
    main()

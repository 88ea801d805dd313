# SPDX-License-Identifier: MIT
"""Resample GPS traces of bicycle trips to one point a second and write profiles of speed."""
import argparse
import datetime as dt
import sys

import numpy as np
import polars as pl


def traces(trips, seed):
    rng = np.random.default_rng(seed)
    start = dt.datetime(2026, 5, 1)
    minutes = rng.integers(0, 60 * 24 * 30, trips)
    return pl.DataFrame({"trip": np.arange(trips, dtype=np.int64), "minute": minutes, "seconds": rng.integers(600, 5400, trips),
                         "metres": rng.uniform(900, 21000, trips)}).with_columns(
        (pl.lit(start) + pl.duration(minutes=pl.col("minute"))).alias("begin"))


def resample(table):
    return (table.with_columns(pl.int_ranges(0, pl.col("seconds")).alias("second"))
            .explode("second")
            .with_columns((pl.col("metres") / pl.col("seconds") * (1 + (pl.col("second") / 60).sin() * 0.2)).alias("speed"),
                          (pl.col("begin") + pl.duration(seconds=pl.col("second"))).alias("time")))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trips", type=int, default=5000)
    args = parser.parse_args()
    table = traces(args.trips, 5)
    print(f"polars {pl.__version__}: {table.height} trips, {table['seconds'].sum():,} points after resampling", file=sys.stderr)
    points = resample(table)
    print(f"resampled: {points.estimated_size('mb'):.0f} MB", file=sys.stderr)
    profile = points.group_by(pl.col("time").dt.hour().alias("hour")).agg(pl.col("speed").mean(), pl.len()).sort("hour")
    print(profile)


if __name__ == "__main__":
    main()

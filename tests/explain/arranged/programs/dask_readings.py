# SPDX-License-Identifier: MIT
"""Quantiles of smart meter readings per district with a local Dask cluster."""
import argparse

import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster, get_worker


def load(part, rows):
    rng = np.random.default_rng(part)
    return pd.DataFrame({"district": rng.integers(0, 40, rows), "kwh": rng.gamma(1.5, 0.4, rows),
                         "meter": [f"meter-{number:09d}" for number in rng.integers(0, 10**6, rows)]})


def summary(tables):
    table = pd.concat(tables, ignore_index=True)
    quantiles = table.groupby("district").kwh.quantile([0.05, 0.5, 0.95]).unstack()
    return quantiles, len(table), get_worker().name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--worker-memory", default="1GB")
    args = parser.parse_args()
    with LocalCluster(n_workers=1, threads_per_worker=1, memory_limit=args.worker_memory, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            print(client)
            parts = [client.submit(load, part, args.rows, pure=False) for part in range(args.parts)]
            quantiles, rows, name = client.submit(summary, parts).result()
            print(f"{rows} readings, worker {name}")
            print(quantiles.head().to_string())


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Count preferential votes of a city election with Ray: ballots are shared through the object store."""
import argparse
import os
import time

import numpy as np
import ray


@ray.remote
def ballots(seed, voters):
    return np.random.default_rng(seed).permuted(np.tile(np.arange(8, dtype=np.int32), (voters, 1)), axis=1)


@ray.remote
def first_choices(sheet):
    return np.bincount(sheet[:, 0], minlength=8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--districts", type=int, default=8)
    parser.add_argument("--voters", type=int, default=800000)
    parser.add_argument("--store-mib", type=int, default=100)
    args = parser.parse_args()
    os.environ["RAY_verbose_spill_logs"] = "1"
    ray.init(num_cpus=1, object_store_memory=args.store_mib << 20, include_dashboard=False)
    print(f"object store of {args.store_mib} MiB; {args.districts} districts of {args.voters * 32 / 2**20:.0f} MiB")
    sheets = [ballots.remote(seed, args.voters) for seed in range(args.districts)]
    ray.wait(sheets, num_returns=len(sheets))
    time.sleep(2)
    total = sum(ray.get([first_choices.remote(sheet) for sheet in sheets]))
    print("first choices:", total.tolist())


if __name__ == "__main__":
    main()

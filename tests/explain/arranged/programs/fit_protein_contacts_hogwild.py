# SPDX-License-Identifier: MIT
"""Fit contact scores of protein families with several processes on one shared table (Hogwild)."""
import argparse
import shutil

import torch
import torch.multiprocessing as mp


def fit(rank, table, steps):
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    for _ in range(steps):
        family = int(torch.randint(len(table), ()))
        scores = table[family]
        scores.add_(torch.randn_like(scores) * 0.01 - scores * 0.001)
    print(f"process {rank}: {steps} steps", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--families", type=int, default=64)
    parser.add_argument("--length", type=int, default=400)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--sharing", choices=sorted(mp.get_all_sharing_strategies()), default="file_system")
    args = parser.parse_args()
    mp.set_sharing_strategy(args.sharing)
    usage = shutil.disk_usage("/dev/shm")
    table = torch.zeros(args.families, args.length, args.length)
    print(f"table of {args.families} families: {table.nbytes / 2**20:.0f} MiB; /dev/shm has {usage.free / 2**20:.0f} MiB free")
    table.share_memory_()
    mp.spawn(fit, args=(table, args.steps), nprocs=args.processes)
    print(f"mean score {table.mean().item():.6f}")


if __name__ == "__main__":
    main()

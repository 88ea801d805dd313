# SPDX-License-Identifier: MIT
"""Actors walk through mazes and fill a replay buffer in shared memory, from which a learner samples."""
import argparse

import torch
import torch.multiprocessing as mp


def walk(rank, buffer, counts, steps):
    torch.manual_seed(rank)
    position = torch.tensor([buffer.shape[-1] // 2, buffer.shape[-1] // 2])
    for step in range(steps):
        position = (position + torch.randint(-1, 2, (2,))).clamp(0, buffer.shape[-1] - 1)
        buffer[rank, step % buffer.shape[1], 0, position[0], position[1]] += 1
        counts[rank] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--capacity", type=int, default=2000)
    parser.add_argument("--side", type=int, default=84)
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    print({"actors": args.actors, "capacity": args.capacity, "frame": [4, args.side, args.side]}, flush=True)
    counts = torch.zeros(args.actors, dtype=torch.long).share_memory_()
    buffer = torch.zeros(args.actors, args.capacity, 4, args.side, args.side).share_memory_()
    print({"replay_mb": round(buffer.numel() * 4 / 1e6)}, flush=True)
    mp.start_processes(walk, args=(buffer, counts, args.steps), nprocs=args.actors, start_method="fork")
    batch = buffer.flatten(0, 1)[torch.randint(0, args.steps, (32,))]
    print({"frames": int(counts.sum()), "visited": float(batch.mean())})


if __name__ == "__main__":
    main()

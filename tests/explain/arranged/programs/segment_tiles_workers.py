# SPDX-License-Identifier: MIT
"""Segment map tiles with several worker processes that share one card."""
import argparse
import multiprocessing
import sys
import traceback

import torch
from torch import nn


def work(rank, tiles, ready, results):
    try:
        torch.set_num_threads(1)
        net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 8, 1)).cuda().eval()
        free, total = torch.cuda.mem_get_info()
        print(f"worker {rank}: up, {torch.cuda.memory_reserved() >> 20} MiB reserved, "
              f"card has {free >> 20} of {total >> 20} MiB free", flush=True)
        results.put((rank, None))
        ready.wait(100)
        with torch.no_grad():
            for _ in range(tiles):
                net(torch.zeros(1, 3, 256, 256, device="cuda")).argmax(1).cpu()
        results.put((rank, tiles))
    except Exception:
        print(f"worker {rank} failed", file=sys.stderr)
        traceback.print_exc()
        results.put((rank, -1))
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tiles", type=int, default=8)
    args = parser.parse_args()
    context = multiprocessing.get_context("fork")
    ready, results = context.Event(), context.SimpleQueue()
    workers = []
    for rank in range(args.workers):
        worker = context.Process(target=work, args=(rank, args.tiles, ready, results))
        worker.start()
        workers.append(worker)
        if results.get()[1] is not None:
            break
    else:
        ready.set()
    if not ready.is_set():
        for worker in workers:
            worker.terminate()
        sys.exit(f"only {len(workers) - 1} of {args.workers} workers came up")
    for worker in workers:
        worker.join()
    failed = [rank for rank, worker in enumerate(workers) if worker.exitcode]
    if failed:
        sys.exit(f"workers {failed} failed")
    print(f"{args.workers * args.tiles} tiles segmented")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
# card: RTX 4090
"""Several processes on one card, without NCCL: each pays for itself, and sees the memory of the others."""
import multiprocessing

import told
import torch


def worker(number: int, barrier) -> None:
    held = torch.empty((number + 1) << 30, dtype=torch.uint8, device="cuda")
    barrier.wait()
    free, total = torch.cuda.mem_get_info()
    assert total - free >= 6 << 30, (free, total)
    assert held.numel() == (number + 1) << 30
    told.reserved()
    barrier.wait()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    meeting = context.Barrier(3)
    workers = [context.Process(target=worker, args=(number, meeting)) for number in range(3)]
    for process in workers:
        process.start()
    for process in workers:
        process.join()
    assert [process.exitcode for process in workers] == [0, 0, 0]

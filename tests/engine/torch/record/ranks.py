# SPDX-License-Identifier: MIT
"""
Two processes that train together, each on its card, for `plimsoll rehearse --record`. Each prints what it holds.

The second one has twice the batch. DDP's buckets are gradients, beside the gradients that they are filled from.
"""
import json
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WIDTH = 512


def held(tensors) -> int:
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors if t.is_cuda}.values())


def work(rank: int, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    layers = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)).cuda()
    model = nn.parallel.DistributedDataParallel(layers, device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    gradients = 0
    for _ in range(3):
        model(torch.randn(64 * (rank + 1), WIDTH, device="cuda")).pow(2).mean().backward()
        optimizer.step()
        gradients = held(parameter.grad for parameter in model.parameters())
        optimizer.zero_grad()
    states = [value for state in optimizer.state.values() for value in state.values()]
    weights = held(model.parameters())
    text = json.dumps({"rank": rank, "weights": weights, "gradients": gradients + weights, "optimizer": held(states),
                       "allocated_peak": torch.cuda.max_memory_allocated(), "reserved_peak": torch.cuda.max_memory_reserved()})
    os.write(1, (text + "\n").encode())
    globals()["kept"] = layers, optimizer
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        free = server.getsockname()[1]
    mp.spawn(work, args=(free,), nprocs=2)

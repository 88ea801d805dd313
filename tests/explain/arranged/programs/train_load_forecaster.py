# SPDX-License-Identifier: MIT
"""Forecast the load of a power grid: a transformer over hourly readings, data parallel."""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Forecaster(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.read = nn.Linear(24, width)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, dropout=0.0)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 24)

    def forward(self, x):
        return self.head(self.body(self.read(x)))


def read_history(days, areas):
    """Every area's readings, hour by hour, as the grid operator publishes them."""
    return [torch.rand(days, 24) for _ in range(areas)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--areas", type=int, default=64)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    rank, local_rank = dist.get_rank(), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    free, total = torch.cuda.mem_get_info()
    print(f"[rank {rank}] cuda:{local_rank} free {free / 2**30:.2f} / {total / 2**30:.2f} GiB", flush=True)
    history = read_history(args.days, args.areas)
    print(f"[rank {rank}] history of {len(history)} areas, {sum(h.nbytes for h in history) / 2**20:.0f} MiB", flush=True)
    model = DistributedDataParallel(Forecaster(args.width, args.layers).cuda(), device_ids=[local_rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(args.steps):
        start = time.perf_counter()
        picked = torch.randint(len(history), (args.batch,)).tolist()
        x = torch.stack([history[area] for area in picked]).cuda()
        loss = nn.functional.mse_loss(model(x[:, :-1]), x[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0:
            print(f"[rank 0] step {step} loss {loss.item():.4f} {time.perf_counter() - start:.2f}s "
                  f"peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

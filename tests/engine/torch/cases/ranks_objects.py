# SPDX-License-Identifier: MIT
# card: 2x RTX 3090
# run: torchrun
"""Messages between ranks arrive: pickled objects, sums, tensors; no rank passes a barrier alone."""
import os
import tempfile
import time

import told
import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
world = dist.get_world_size()

objects = [None] * world
dist.all_gather_object(objects, {"rank": rank, "text": "x" * (10 + 1000 * rank)})
assert [o["rank"] for o in objects] == list(range(world)), objects
assert [len(o["text"]) for o in objects] == [10 + 1000 * r for r in range(world)]

box = [{"from": 1, "list": list(range(100))}, "two"] if rank == 1 else [None, None]
dist.broadcast_object_list(box, src=1)
assert box == [{"from": 1, "list": list(range(100))}, "two"], box

gathered = [None] * world if rank == 0 else None
dist.gather_object(("hello", "x" * rank), gathered, dst=0)
assert rank or gathered == [("hello", "x" * r) for r in range(world)], gathered

sums = torch.tensor([rank + 1, 10 * rank], device="cuda")
dist.all_reduce(sums)
assert sums.tolist() == [world * (world + 1) // 2, 10 * world * (world - 1) // 2], sums

sizes = torch.tensor([rank * 10 + r for r in range(world)], device="cuda")
theirs = torch.empty_like(sizes)
dist.all_to_all_single(theirs, sizes)
assert theirs.tolist() == [r * 10 + rank for r in range(world)], theirs

if rank == 0:
    dist.send(torch.tensor([42], device="cuda"), 1)
elif rank == 1:
    got = torch.zeros(1, dtype=torch.int64, device="cuda")
    dist.recv(got, 0)
    assert got.item() == 42

mark = os.path.join(tempfile.gettempdir(), f"plimsoll-barrier-{os.environ['MASTER_PORT']}-{os.getppid()}")
if rank == 0:
    time.sleep(1)
    open(mark, "w", encoding="utf-8").close()
dist.barrier()
assert os.path.exists(mark)
dist.barrier(dist.new_group([0, 1]))
if rank == 0:
    os.remove(mark)
told.reserved()
dist.destroy_process_group()

# SPDX-License-Identifier: MIT
# card: 2x RTX 3090
# run: torchrun
"""ZeroRedundancyOptimizer: each rank holds the optimizer state of its part, and sends the parameters that it updated."""
import os

import told
import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)]).cuda())
optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-3)
for _ in range(2):
    model(torch.randn(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.barrier()
told.reserved()
dist.destroy_process_group()

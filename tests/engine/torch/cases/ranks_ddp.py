# SPDX-License-Identifier: MIT
# card: 2x RTX 3090
# run: torchrun
"""DDP: gradients are summed in buckets while backward runs."""
import os

import told
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
model = DistributedDataParallel(model, device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    model(torch.randn(16, 2048, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
told.reserved()
dist.destroy_process_group()

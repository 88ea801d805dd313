# SPDX-License-Identifier: MIT
"""FSDP as in PyTorch's tutorial, on two cards: wrapped layer by layer, clipped, the whole state gathered on the host of rank 0"""
import functools
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, MixedPrecision, StateDictType
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
layers = [nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True) for _ in range(4)]
model = FullyShardedDataParallel(
    nn.Sequential(*layers, nn.Linear(1024, 1000)), device_id=rank,
    auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={nn.TransformerEncoderLayer}),
    mixed_precision=MixedPrecision(torch.bfloat16, torch.bfloat16, torch.bfloat16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    loss = model(torch.randn(4, 128, 1024, device="cuda")).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    model.clip_grad_norm_(1.0)
    optimizer.step()
with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=True, rank0_only=True)):
    state = model.state_dict()
dist.barrier()
print(f"rank {rank} keeps {len(state)} tensors and {len(optimizer.state)} states", flush=True)
dist.destroy_process_group()

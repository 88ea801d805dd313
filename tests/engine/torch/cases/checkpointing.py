# SPDX-License-Identifier: MIT
"""Gradient checkpointing holds less than all activations."""
import told
import torch
from torch.utils.checkpoint import checkpoint

layers = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024))
                              for _ in range(8)]).cuda()
held = {}
for is_checkpointed in (True, False):
    x = torch.ones(4096, 1024, device="cuda", requires_grad=True)
    torch.cuda.reset_peak_memory_stats()
    y = x
    for layer in layers:
        y = checkpoint(layer, y, use_reentrant=False) if is_checkpointed else layer(y)
    y.sum().backward()
    held[is_checkpointed] = torch.cuda.max_memory_allocated()
    del x, y
assert held[True] < held[False], held
told.reserved()

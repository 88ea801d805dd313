# SPDX-License-Identifier: MIT
# pytorch: lower_bound
"""PyTorch's peaks were reset by a function that was taken from PyTorch early: that they have fallen is noticed"""
from torch._C import _cuda_resetPeakMemoryStats as reset

import told
import torch

weight = torch.nn.Parameter(torch.zeros(1 << 20, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
held = torch.empty(500 << 20, dtype=torch.uint8, device="cuda")
weight.grad = torch.zeros_like(weight)
optimizer.step()  # here the peaks are noted
told.remember_peaks()
del held
torch.cuda.empty_cache()
reset(0)
assert torch.cuda.max_memory_allocated() < 100 << 20
told.peaks()

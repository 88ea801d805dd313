# SPDX-License-Identifier: MIT
"""Scans, sorts and selections: their kernels ask for scratch memory, and choose by the architecture of the card."""
import told
import torch

x = torch.arange(100000, device="cuda", dtype=torch.int32)
torch.cumsum(x, dim=0)
torch.sort(x.float())
torch.topk(x.float(), 7)
torch.unique(x)
torch.nonzero(x)
torch.multinomial(torch.ones(1000, device="cuda"), 5)
torch.randperm(1000, device="cuda")
told.reserved()

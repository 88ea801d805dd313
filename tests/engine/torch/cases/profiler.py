# SPDX-License-Identifier: MIT
"""torch.profiler with CUDA activities: it starts, it ends, and it has the operators of the host."""
import told
import torch
from torch.profiler import ProfilerActivity, profile

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as report:
    matrix = torch.randn(64, 64, device="cuda")
    (matrix @ matrix).sum()
assert "aten::mm" in report.key_averages().table()
told.reserved()

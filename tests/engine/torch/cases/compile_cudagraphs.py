# SPDX-License-Identifier: MIT
# needs: triton
"""torch.compile that captures what it made in graphs."""
import told
import torch

net = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU(), torch.nn.Linear(512, 512)).cuda()
fast = torch.compile(net, mode="reduce-overhead")
with torch.no_grad():
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        fast(torch.randn(16, 512, device="cuda"))
told.reserved()

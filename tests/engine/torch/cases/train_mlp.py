# SPDX-License-Identifier: MIT
"""Three training steps of a small network."""
import told
import torch

net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
for _ in range(3):
    net(torch.randn(64, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
told.reserved()

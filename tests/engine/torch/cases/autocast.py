# SPDX-License-Identifier: MIT
"""Mixed precision with a gradient scaler: no infinity is found, so the optimizer steps."""
import told
import torch

net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler("cuda")
for _ in range(3):
    with torch.autocast("cuda", dtype=torch.float16):
        y = net(torch.ones(256, 1024, device="cuda"))
        assert y.dtype == torch.float16
        loss = y.float().square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
assert optimizer.state, "no step was taken"
told.reserved()

# SPDX-License-Identifier: MIT
# card: 4x RTX 4090
# run: torchrun
"""Programs that end right after backward(), while autograd's thread waits for Python's lock, end well"""
import os
import sys

import told
import torch

sys.setswitchinterval(5)  # nobody has to let go of the lock: without ending.c five of six programs were aborted
device = f"cuda:{os.environ['LOCAL_RANK']}"
model = torch.nn.Linear(64, 64).to(device)
model(torch.randn(8, 64, device=device)).square().mean().backward()
told.reserved()

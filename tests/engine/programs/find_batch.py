# SPDX-License-Identifier: MIT
"""The batch that fits, as accelerate's find_executable_batch_size looks for it: it runs out of memory on purpose"""
import torch
from accelerate.utils import find_executable_batch_size
from torch import nn


@find_executable_batch_size(starting_batch_size=4096)
def train(batch_size):
    model = nn.Sequential(nn.Linear(8192, 65536), nn.ReLU(), nn.Linear(65536, 16)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.randn(8 * batch_size, 8192, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return batch_size


print("found:", train())

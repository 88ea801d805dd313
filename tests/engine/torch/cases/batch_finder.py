# SPDX-License-Identifier: MIT
# card: 4GiB
# out of memory: gpu0
"""A search for the largest batch of a convolutional net ends at it: every refusal says that it is out of memory."""
import os

import torch


def layers(n: int):
    for i in range(n):
        yield torch.nn.Conv2d(96 if i else 3, 96, 3, padding=1)
        yield torch.nn.ReLU()


def fits(net: torch.nn.Module, batch: int) -> bool:
    """As Lightning's scale_batch_size and accelerate's find_executable_batch_size: other errors are passed on."""
    try:
        net(torch.randn(batch, 3, 128, 128, device="cuda")).sum().backward()
        return True
    except torch.cuda.OutOfMemoryError:
        return False
    finally:
        net.zero_grad()
        torch.cuda.empty_cache()


def largest(benchmark: bool) -> int:
    torch.backends.cudnn.benchmark = benchmark
    net = torch.nn.Sequential(*layers(6), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(96, 10)).cuda()
    low, high = 1, 2
    while fits(net, high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(net, middle) else (low, middle)
    assert fits(net, low) and not fits(net, low + 1)
    return low


found = largest(False)
plane_bytes = 96 * 128 * 128 * 4  # the results of six layers are kept, and two or three more are made at a time
assert 6 * found * plane_bytes < 4 << 30 < 9 * found * plane_bytes, found
assert largest(True) == found  # measuring takes the same plans
os._exit(0)  # once in twenty runs PyTorch's thread of the backward pass ended the interpreter with 134 when it went down

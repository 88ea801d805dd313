# SPDX-License-Identifier: MIT
"""A graph computes with the values of the moment of its launch, in the place that they say."""
import ctypes

import told
import torch

driver = ctypes.CDLL("libcuda.so.1")
driver.plim_values_known.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
KNOWN = 2

cache = torch.zeros(8, 16, device="cuda")
one, position = torch.ones(8, 1, device="cuda"), torch.tensor([3], device="cuda")
host = torch.zeros(1, dtype=torch.int64).pin_memory()


def step():
    """As a model with a static cache writes a token."""
    cache.index_copy_(1, position, one)
    position.add_(1)
    host.copy_(position, non_blocking=True)
    return (cache > 0).sum(), torch.isfinite(cache).all(), cache.argmax(1)


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    step()
torch.cuda.current_stream().wait_stream(side)
cache.zero_()
position.fill_(2)
host.zero_()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    n, is_finite, first = step()
assert position.item() == 2 and host.item() == 0 and not cache.any().item(), "the capture did something"
for i in range(1, 4):
    graph.replay()
    torch.cuda.synchronize()
    assert n.item() == 8 * i and is_finite.item() and first.tolist() == [2] * 8 and host.item() == 2 + i, (n, first, host)
for tensor in (n, is_finite, first, cache, position):
    assert driver.plim_values_known(tensor.data_ptr(), tensor.numel() * tensor.element_size()) == KNOWN
told.reserved()

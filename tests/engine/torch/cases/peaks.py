# SPDX-License-Identifier: MIT
# pytorch: exact
"""PyTorch's own peaks are in the receipt, over two resets: allocated, active, reserved"""
import threading

import told
import torch

MIB = 1 << 20


def hold(mib: int) -> None:
    """While a graph is captured, memory that another stream has used stays active when it is freed: each figure differs."""
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        held = torch.empty(mib * MIB - 5000, dtype=torch.uint8, device="cuda")
        held.record_stream(torch.cuda.Stream())
        del held
        held = torch.empty(mib * MIB // 2, dtype=torch.uint8, device="cuda")
        del held


weight = torch.nn.Parameter(torch.zeros(MIB, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)

hold(700)  # the largest of all: before the first reset
told.remember_peaks()
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()
assert torch.cuda.max_memory_allocated() < 100 * MIB, "a reset does what it did"

weight.sum().backward()
optimizer.step()
hold(300)
told.remember_peaks()
torch.cuda.empty_cache()
reset_newer = getattr(getattr(torch, "accelerator", None), "reset_peak_memory_stats", torch.cuda.reset_peak_memory_stats)
reset_newer(0)
assert torch.cuda.max_memory_allocated() < 100 * MIB

thread = threading.Thread(target=hold, args=(200,))
thread.start()
thread.join()
optimizer.step()
told.remember_peaks()
assert torch.cuda.max_memory_allocated() < 300 * MIB

for name in ("_cuda_resetPeakMemoryStats", "_accelerator_resetPeakStats"):
    function = getattr(torch._C, name, torch._C._cuda_resetPeakMemoryStats)
    assert type(function) is type(len) and function.__module__ == "torch._C", function
    try:
        function("no number")
    except (RuntimeError, TypeError):
        continue
    raise AssertionError("an argument that is no number")
told.peaks()

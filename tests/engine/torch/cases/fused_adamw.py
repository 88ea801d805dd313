# SPDX-License-Identifier: MIT
"""AdamW in one kernel, and over lists of tensors, which needs more for a moment."""
import told
import torch

peaks = {}
for kind in ("foreach", "fused"):
    net = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), **{kind: True})
    net(torch.ones(8, 2048, device="cuda")).sum().backward()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    optimizer.step()
    peaks[kind] = torch.cuda.max_memory_allocated() - before
    del net, optimizer
assert peaks["fused"] < peaks["foreach"], peaks
torch.cuda.empty_cache()
held = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)  # the peak is here
told.reserved()

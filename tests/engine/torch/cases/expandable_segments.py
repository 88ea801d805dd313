# SPDX-License-Identifier: MIT
# environment: PYTORCH_ALLOC_CONF=expandable_segments:True
"""Expandable segments: memory is created and mapped a page at a time, and released."""
import told
import torch

held = []
for step in range(200):
    held.append(torch.empty((step % 17 + 1) << 20, dtype=torch.uint8, device="cuda"))
    if step % 3 == 2:
        del held[step // 3]
assert any(segment["is_expandable"] for segment in torch.cuda.memory_snapshot())
del held[::2]
torch.cuda.empty_cache()
grown = torch.empty(700 << 20, dtype=torch.uint8, device="cuda")
told.reserved()

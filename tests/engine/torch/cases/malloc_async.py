# SPDX-License-Identifier: MIT
# environment: PYTORCH_ALLOC_CONF=backend:cudaMallocAsync
"""CUDA's own pool instead of PyTorch's allocator."""
import told
import torch

assert torch.cuda.get_allocator_backend() == "cudaMallocAsync"
held = [torch.empty((step % 7 + 1) << 20, dtype=torch.uint8, device="cuda") for step in range(64)]
del held[::2]
torch.cuda.synchronize()
told.reserved()

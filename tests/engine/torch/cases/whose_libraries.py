# SPDX-License-Identifier: MIT
"""Of the libraries that are stood in for, none of NVIDIA's is in the process, installed or not."""
import os

import told
import torch

image = torch.randn(1, 3, 8, 8, device="cuda")
torch.nn.functional.conv2d(image, torch.randn(4, 3, 3, 3, device="cuda"))
torch.fft.fft(torch.linalg.svd(image)[1])
torch.sparse.mm(torch.eye(8).to_sparse().cuda(), image[0, 0])
with open("/proc/self/maps", encoding="utf-8") as maps:
    mapped = {line.split()[-1] for line in maps if ".so" in line}
ours = next(os.path.dirname(path) for path in mapped if path.endswith("/libcudnn.so.9"))
names = set(os.listdir(ours))
others = sorted(path for path in mapped if os.path.basename(path) in names and os.path.dirname(path) != ours)
assert "libplimsoll-preload.so" in names and not others, (ours, others)
told.reserved()

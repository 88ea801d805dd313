# SPDX-License-Identifier: MIT
"""The second of two cards, a limit on the share of its memory, segments that expand and an early collection"""
import torch

torch.cuda.set_per_process_memory_fraction(0.25)
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(5)]
try:
    kept.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
except torch.OutOfMemoryError as error:
    print("refused:", "allowed" in str(error))
print("cards:", torch.cuda.device_count(), "kept:", len(kept))

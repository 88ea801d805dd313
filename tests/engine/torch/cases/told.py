# SPDX-License-Identifier: MIT
"""What a case tells the suite: the bytes that PyTorch itself says it holds."""
import json
import os

import torch


def reserved() -> None:
    """Call it last: what this process has reserved on each card now, and at most."""
    cards = {}
    for device in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(device)
        cards[device] = [stats.get("reserved_bytes.all.current", 0), stats.get("reserved_bytes.all.peak", 0)]
    line = "told: " + json.dumps({"pid": os.getpid(), "reserved": cards}) + "\n"
    os.write(1, line.encode())  # at once: ranks write to the same file


peaks_seen: dict[int, list[int]] = {}
FIGURES = ("allocated", "active", "reserved")


def remember_peaks() -> None:
    """Before each reset, and at the end."""
    for device in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(device)
        now = [stats.get(f"{figure}_bytes.all.peak", 0) for figure in FIGURES]
        peaks_seen[device] = [max(pair) for pair in zip(now, peaks_seen.get(device, now))]


def peaks() -> None:
    """Instead of reserved(): the peaks that PyTorch told, over all resets."""
    remember_peaks()
    cards = {device: [torch.cuda.memory_reserved(device), seen[2]] for device, seen in peaks_seen.items()}
    line = "told: " + json.dumps({"pid": os.getpid(), "peaks": peaks_seen, "reserved": cards}) + "\n"
    os.write(1, line.encode())

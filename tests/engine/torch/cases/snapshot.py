# SPDX-License-Identifier: MIT
"""PyTorch's own account of its memory: summary, statistics and snapshot agree."""
import told
import torch

torch.cuda.memory._record_memory_history()
held = [torch.empty(n << 20, dtype=torch.uint8, device="cuda") for n in (1, 5, 30, 64)]
snapshot = torch.cuda.memory._snapshot()
segments = sum(segment["total_size"] for segment in snapshot["segments"])
assert segments == torch.cuda.memory_reserved(), (segments, torch.cuda.memory_reserved())
assert "Allocated memory" in torch.cuda.memory_summary()
free, total = torch.cuda.mem_get_info()
assert total - free > segments
told.reserved()

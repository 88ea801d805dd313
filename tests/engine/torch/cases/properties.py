# SPDX-License-Identifier: MIT
"""What PyTorch says of the card, and the memory that it sees."""
import told
import torch

card = torch.cuda.get_device_properties(0)
print(card)
assert torch.cuda.is_available() and torch.cuda.device_count() == 1
assert card.name == "NVIDIA GeForce RTX 4090" and (card.major, card.minor) == (8, 9)
assert card.multi_processor_count == 128 and card.max_threads_per_multi_processor == 1536
assert card.regs_per_multiprocessor == 65536 and card.warp_size == 32
assert torch.cuda.get_device_capability() == (8, 9) and torch.cuda.is_bf16_supported()
free, total = torch.cuda.mem_get_info()
assert 0 < free < total == card.total_memory
torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
assert torch.cuda.mem_get_info()[0] == free - (1 << 30)
torch.cuda.empty_cache()
assert torch.cuda.mem_get_info()[0] == free
told.reserved()

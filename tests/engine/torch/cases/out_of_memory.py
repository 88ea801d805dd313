# SPDX-License-Identifier: MIT
# card: RTX 4060
# out of memory
"""More than the card has: PyTorch's own error, with the figures of this card."""
import torch

held = torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
total = torch.cuda.mem_get_info()[1]
try:
    torch.empty(total, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    print(error)
    assert f"total capacity of {total / 2**30:.2f} GiB" in str(error)
    assert "2.00 GiB is allocated by PyTorch" in str(error)
    assert "this process has" in str(error)
else:
    raise SystemExit("it was given more than the card has")

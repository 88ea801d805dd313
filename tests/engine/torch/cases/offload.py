# SPDX-License-Identifier: MIT
# at most: 240 s, 1 GiB
"""A model of 22 GiB goes to the host and back, its state is saved: neither RAM nor disk is spent on zeros."""
import os
import tempfile

import told
import torch

torch.set_default_device("cuda")
torch.set_default_dtype(torch.bfloat16)
model = torch.nn.ModuleList([torch.nn.Linear(3072, 22 * 3072) for _ in range(57)])
step = torch.arange(100000, dtype=torch.float32)
assert sum(p.numel() * p.element_size() for p in model.parameters()) > 22 << 30
model.to("cpu")
assert model[3].weight.device.type == "cpu" and not model[3].weight[1000].any()
model.to("cuda")
state = {name: value.cpu() for name, value in model.state_dict().items()}
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    torch.save({"model": dict(list(state.items())[:20]), "step": step}, path)
    status = os.stat(path)
    assert status.st_size > 3 << 30 and status.st_blocks * 512 < 16 << 20, status
    loaded = torch.load(path, map_location="cpu", mmap=True)
    assert (loaded["step"] == torch.arange(100000, device="cpu", dtype=torch.float32)).all()
    assert loaded["model"]["3.weight"].shape == (22 * 3072, 3072) and not loaded["model"]["3.weight"][7].any()
told.reserved()

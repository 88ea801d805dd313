# SPDX-License-Identifier: MIT
# %% [markdown]
# Fine-tune a ConvNeXt that grades apples on the sorting line (exported notebook).

# %%
"""Fine-tune a ConvNeXt that grades apples on the sorting line."""
import os

import timm
import torch
from torch import nn

BATCH = int(os.environ.get("BATCH", 32))
STEPS = int(os.environ.get("STEPS", 4))
GRADES = int(os.environ.get("GRADES", 6))
START_FROM = os.environ.get("START_FROM", "")
CARD_GIB = float(os.environ.get("CARD_GIB", 0))

# %%
properties = torch.cuda.get_device_properties(0)
print(properties.name, f"{properties.total_memory / 2**30:.1f} GiB")
if CARD_GIB:
    torch.cuda.set_per_process_memory_fraction(min(1.0, CARD_GIB * 2**30 / properties.total_memory))
    print(f"agreed with the vision group: {CARD_GIB:g} GiB for this notebook")

# %%
model = timm.create_model("convnext_tiny", num_classes=GRADES).cuda()
print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters, {torch.cuda.memory_allocated() / 2**20:.0f} MiB")

# %%
if START_FROM:
    last_season = timm.create_model("convnext_tiny", num_classes=int(START_FROM)).state_dict()
    print(torch.cuda.memory_summary(abbreviated=True))
    model.load_state_dict(last_season)

# %%
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for step in range(STEPS):
    photos = torch.rand(BATCH, 3, 224, 224, device="cuda")
    grades = torch.randint(GRADES, (BATCH,), device="cuda")
    loss = criterion(model(photos), grades)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("step", step, "loss", round(loss.item(), 4))

# %%
free, total = torch.cuda.mem_get_info()
print(f"finished; {free / 2**30:.1f} of {total / 2**30:.1f} GiB of the card are free")

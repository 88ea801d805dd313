# SPDX-License-Identifier: MIT
"""Compare backbones and learning rates for leaf disease photos (exported notebook)."""
# %%
import os

import pandas as pd
import timm
import torch

BATCH = int(os.environ.get("BATCH", "16"))
KEEP = os.environ.get("KEEP", "models")
RATES = int(os.environ.get("RATES", "24"))

# %%
backbones = ["resnet152", "vit_base_patch16_224", "convnext_small"]
trained, rows = {}, []

# %%
def fit(name, rate):
    with torch.device("cuda"):
        model = timm.create_model(name, pretrained=False, num_classes=38)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for _ in range(2):
        photos, diseases = torch.zeros(BATCH, 3, 224, 224).cuda(), torch.randint(38, (BATCH,)).cuda()
        loss = torch.nn.functional.cross_entropy(model(photos), diseases)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, optimizer, loss.item()


# %%
for number in range(RATES):
    for name in backbones:
        rate = 1e-4 * 1.2**number
        model, optimizer, loss = fit(name, rate)
        if KEEP == "models":
            trained[name, rate] = model, optimizer
        rows.append({"backbone": name, "rate": rate, "loss": loss, "GPU MiB": torch.cuda.memory_allocated() >> 20})
    print(pd.DataFrame(rows[-3:]).to_string(index=False, header=number == 0))

# %%
print(pd.DataFrame(rows).sort_values("loss").head(5))

# SPDX-License-Identifier: MIT
"""Lightning Fabric with FSDP on two cards, which it launches itself"""
import lightning
import torch
from torch import nn


def main():
    fabric = lightning.Fabric(accelerator="cuda", devices=2, strategy="fsdp", precision="bf16-true")
    fabric.launch()
    with fabric.init_module(empty_init=False):
        model = nn.Sequential(nn.Linear(2048, 8192), nn.GELU(), nn.Linear(8192, 2048))
    model = fabric.setup_module(model)
    optimizer = fabric.setup_optimizers(torch.optim.AdamW(model.parameters(), lr=1e-4))
    for _ in range(3):
        loss = model(torch.randn(16, 2048, device=fabric.device, dtype=torch.bfloat16)).float().square().mean()
        optimizer.zero_grad()
        fabric.backward(loss)
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
    fabric.barrier()
    print("rank", fabric.global_rank, "of", fabric.world_size, "states:", len(optimizer.state))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Measure the memory that vision transformers take per batch size and print a table for the wiki."""
import argparse

import timm
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--archs", default="vit_small_patch16_224,vit_base_patch16_224")
parser.add_argument("--batches", default="8,16,32")
args = parser.parse_args()
total = torch.cuda.get_device_properties(0).total_memory
print(f"card: {torch.cuda.get_device_name()}, {total / 2**20:.0f} MiB")
print("| architecture | batch | weights MiB | peak MiB | left MiB | out of memory events |")
print("|---|---|---|---|---|---|")
for arch in args.archs.split(","):
    with torch.device("cuda"):
        model = timm.create_model(arch, pretrained=False)
    weights = torch.cuda.memory_allocated()
    for batch in map(int, args.batches.split(",")):
        torch.cuda.reset_peak_memory_stats()
        try:
            model(torch.zeros(batch, 3, 224, 224, device="cuda")).sum().backward()
            peak = f"{torch.cuda.max_memory_allocated() / 2**20:.0f}"
            left = f"{(total - torch.cuda.max_memory_reserved()) / 2**20:.0f}"
        except torch.cuda.OutOfMemoryError:
            peak, left = "OOM", "0"
        model.zero_grad()
        torch.cuda.empty_cache()
        print(f"| {arch} | {batch} | {weights / 2**20:.0f} | {peak} | {left} | {torch.cuda.memory_stats()['num_ooms']} |")
    del model
    torch.cuda.empty_cache()
print(torch.cuda.memory_summary())

# SPDX-License-Identifier: MIT
"""Tag product images within the share of a card that the lab's queue gives to a job."""
import argparse
import os

import timm
import torch

SHARE = float(os.environ.get("CARD_SHARE", "0.9"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="convnext_base")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--images", type=int, default=512)
    args = parser.parse_args()
    torch.cuda.set_per_process_memory_fraction(SHARE)
    total = torch.cuda.get_device_properties(0).total_memory
    print(f"lease: {SHARE:.0%} of {total / 2**30:.1f} GiB")
    with torch.device("cuda"):
        model = timm.create_model(args.arch, pretrained=False, num_classes=340).eval()
    with torch.inference_mode():
        for first in range(0, args.images, args.batch):
            tags = model(torch.zeros(args.batch, 3, 224, 224, device="cuda")).sigmoid() > 0.5
            print(f"{first + args.batch:5d} images, {int(tags.sum())} tags, "
                  f"in use {torch.cuda.memory_allocated() / 2**20:.0f} MiB, "
                  f"peak {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB, "
                  f"free on the card {torch.cuda.mem_get_info()[0] / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Train a network that estimates depth from street images, with Accelerate."""
import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from torch import nn
from torchvision.models.segmentation import fcn_resnet50


def train(accelerator, batch_size, args):
    accelerator.print(f"training with batch size {batch_size}")
    accelerator.free_memory()
    net = fcn_resnet50(weights=None, weights_backbone=None, num_classes=1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4)
    net, optimizer = accelerator.prepare(net, optimizer)
    for step in range(args.steps):
        images = torch.zeros(batch_size, 3, args.height, 2 * args.height, device=accelerator.device)
        depth = torch.zeros(batch_size, 1, args.height, 2 * args.height, device=accelerator.device)
        loss = nn.functional.l1_loss(net(images)["out"], depth)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.print(f"step {step + 1}/{args.steps} l1 {loss.item():.4f}")
    return batch_size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--height", type=int, default=192)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--auto", action="store_true", help="take the largest batch size that works, from --batch-size down")
    args = parser.parse_args()
    accelerator = Accelerator(mixed_precision="bf16")
    accelerator.print(accelerator.state)
    if args.auto:
        @find_executable_batch_size(starting_batch_size=args.batch_size)
        def attempt(batch_size):
            accelerator.print(f"trying {batch_size} images ({torch.cuda.memory_reserved() / 2**30:.2f} GiB reserved so far)")
            return train(accelerator, batch_size, args)
        accelerator.print(f"done, batch size {attempt()}")
    else:
        train(accelerator, args.batch_size, args)
        accelerator.print("done")


if __name__ == "__main__":
    main()

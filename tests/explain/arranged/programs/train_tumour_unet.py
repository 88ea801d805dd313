# SPDX-License-Identifier: MIT
"""Train a small U-Net that outlines tumours in MRI slices."""
import argparse
import logging
import time

import torch
from torch import nn
from torch.nn import functional as F

log = logging.getLogger("tumour")


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down1, self.down2, self.down3 = block(4, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.up2, self.up1 = block(6 * width, 2 * width), block(3 * width, width)
        self.head = nn.Conv2d(width, 3, 1)

    def forward(self, x):
        one = self.down1(x)
        two = self.down2(F.max_pool2d(one, 2))
        three = self.down3(F.max_pool2d(two, 2))
        x = self.up2(torch.cat((F.interpolate(three, scale_factor=2.0), two), 1))
        x = self.up1(torch.cat((F.interpolate(x, scale_factor=2.0), one), 1))
        return self.head(x)


def slices(batch, side):
    images = torch.zeros(batch, 4, side, side)
    masks = torch.zeros(batch, side, side, dtype=torch.long)
    while True:
        yield images, masks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s")

    device = torch.device("cuda")
    free, total = torch.cuda.mem_get_info()
    log.info("%s: %.1f GiB free of %.1f GiB", torch.cuda.get_device_name(), free / 2**30, total / 2**30)
    model = UNet(args.width).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    log.info("U-Net with %.2f M parameters, %.0f MiB on the card", sum(p.numel() for p in model.parameters()) / 1e6,
             torch.cuda.memory_allocated() / 2**20)
    log.info("batches of %d slices of %dx%d", args.batch_size, args.side, args.side)
    start = time.perf_counter()
    for step, (images, masks) in zip(range(1, args.steps + 1), slices(args.batch_size, args.side)):
        loss = F.cross_entropy(model(images.to(device)), masks.to(device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            log.info("step %d/%d loss %.4f, %.1f s, peak %.2f GiB", step, args.steps, loss.item(), time.perf_counter() - start,
                     torch.cuda.max_memory_allocated() / 2**30)
    torch.save(model.state_dict(), "unet.pt")
    log.info("saved unet.pt")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""A U-Net written out, 512 x 512, batch 8: mixed precision, channels last, RMSprop, gradients unscaled and clipped"""
import torch
from torch import nn


def twice(n_in, n_out):
    layers = [nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Conv2d(n_out, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512, 1024)):
        super().__init__()
        self.first = twice(3, widths[0])
        self.down = nn.ModuleList(twice(a, b) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(twice(b, a) for a, b in zip(widths, widths[1:]))
        self.last = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        kept = [self.first(x)]
        for layer in self.down:
            kept.append(layer(nn.functional.max_pool2d(kept[-1], 2)))
        x = kept.pop()
        for up, join in reversed(list(zip(self.up, self.join))):
            x = join(torch.cat([kept.pop(), up(x)], dim=1))
        return self.last(x)


model = UNet().cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-5, weight_decay=1e-8, momentum=0.999, foreach=True)
scaler = torch.amp.GradScaler("cuda")
for _ in range(3):
    images = torch.randn(8, 3, 512, 512).to("cuda", memory_format=torch.channels_last)
    masks = torch.randint(0, 2, (8, 512, 512)).to("cuda")
    with torch.autocast("cuda"):
        loss = nn.functional.cross_entropy(model(images), masks)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
print("optimizer states:", len(optimizer.state))

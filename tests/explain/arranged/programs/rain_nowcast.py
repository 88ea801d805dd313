# SPDX-License-Identifier: MIT
"""Nowcast rain from radar images with a 3-D convolution on the CPU."""
import argparse
import time

import torch
from torch import nn


class Nowcast(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv3d(1, width, 3, padding=1), nn.ReLU(),
                                    nn.Conv3d(width, width, 3, padding=1), nn.ReLU())
        self.head = nn.Conv3d(width, 1, 1)

    def forward(self, radar):
        return self.head(self.encode(radar))[:, :, -1]


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--frames", type=int, default=6)
    parser.add_argument("--width", type=int, default=24)
    parser.add_argument("--members", type=int, default=1, help="runs of the ensemble that are computed at once")
    args = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(1)
    model = Nowcast(args.width).eval()
    print(f"parameters: {sum(weight.numel() for weight in model.parameters()):,}")
    radar = torch.rand(args.members, 1, args.frames, args.side, args.side)
    print(f"input {tuple(radar.shape)}")
    start = time.perf_counter()
    rain = model(radar)
    print(f"rain in 5 min: mean {rain.mean():.3f} mm/h, {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()

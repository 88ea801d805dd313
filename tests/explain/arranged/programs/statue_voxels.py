# SPDX-License-Identifier: MIT
"""Reconstruct a statue from photos as a voxel grid of density and spherical harmonics."""
import argparse
import sys

import torch
import torch.nn.functional as F


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resolution", type=int, default=128)
    parser.add_argument("--rays", type=int, default=4096)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--optimizer", choices=["adam", "rmsprop", "sgd"], default="adam")
    return parser.parse_args(arguments)


class VoxelField(torch.nn.Module):
    def __init__(self, resolution, channels=28):
        super().__init__()
        self.grid = torch.nn.Parameter(torch.zeros(1, channels, resolution, resolution, resolution, device="cuda"))

    def forward(self, positions):
        values = F.grid_sample(self.grid, positions[None, None], align_corners=True)[0, :, 0]
        return F.softplus(values[0]), torch.sigmoid(values[1:4])


def render(field, origins, directions, samples):
    depth = torch.linspace(0.0, 2.0, samples, device="cuda")
    positions = origins[:, None] + directions[:, None] * depth[None, :, None]
    density, colour = field(positions)
    alpha = 1 - torch.exp(-density * (2.0 / samples))
    seen = torch.cumprod(1 - alpha + 1e-9, dim=1)
    return (colour * (alpha * seen)).sum(-1).T


def main(arguments):
    options = parse(arguments)
    field = VoxelField(options.resolution)
    voxels = options.resolution ** 3
    print(f"grid {options.resolution}^3 x 28 = {voxels * 28 / 1e6:.0f} M values, {field.grid.nbytes / 2**30:.2f} GiB in float32")
    make = {"adam": lambda: torch.optim.Adam(field.parameters(), lr=0.05, fused=True), "sgd": lambda: torch.optim.SGD(field.parameters(), lr=0.5),
            "rmsprop": lambda: torch.optim.RMSprop(field.parameters(), lr=0.01, foreach=False)}
    optimizer = make[options.optimizer]()
    print(f"optimizer {type(optimizer).__name__}, {options.rays} rays x {options.samples} samples an iteration")
    for iteration in range(options.iterations):
        origins = torch.rand(options.rays, 3, device="cuda") - 1
        directions = F.normalize(torch.rand(options.rays, 3, device="cuda") + 0.1, dim=-1)
        pixels = torch.rand(options.rays, 3, device="cuda")
        loss = F.mse_loss(render(field, origins, directions, options.samples), pixels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if iteration == 0:
            print(f"after the first backward pass: {torch.cuda.memory_allocated() / 2**30:.2f} GiB allocated, "
                  f"peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")
        optimizer.step()
        print(f"iteration {iteration}: mse {loss.item():.5f}")
    occupied = (field.grid.detach()[0, 0] > 0.1).sum().item()
    print(f"done, {occupied} voxels are occupied")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

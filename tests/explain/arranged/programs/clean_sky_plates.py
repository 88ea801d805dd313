# SPDX-License-Identifier: MIT
"""Remove noise from digitised photographic plates of the sky; large plates are cleaned in squares if the GPU is short of memory."""
import argparse

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

console = Console(width=110)


def cleaner(width=48):
    return nn.Sequential(nn.Conv2d(1, width, 5, padding=2), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(width, 1, 3, padding=1)).cuda().eval()


def in_squares(network, plate, side):
    clean = torch.empty_like(plate)
    for y in range(0, plate.shape[-2], side):
        for x in range(0, plate.shape[-1], side):
            clean[..., y:y + side, x:x + side] = network(plate[..., y:y + side, x:x + side].cuda()).cpu()
    return clean


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plates", type=int, default=3)
    parser.add_argument("--width", type=int, default=9000)
    parser.add_argument("--height", type=int, default=9000)
    parser.add_argument("--square", type=int, default=1024)
    args = parser.parse_args()
    network = cleaner()
    table = Table(title="Plates")
    for heading in ("plate", "pixels", "way", "noise removed"):
        table.add_column(heading)
    for number in range(1, args.plates + 1):
        plate = torch.rand(1, 1, args.height, args.width)
        way = "whole"
        try:
            clean = network(plate.cuda()).cpu()
        except torch.OutOfMemoryError as error:
            console.print(f"[yellow]plate {number}: {str(error).split(' Process ')[0]}[/yellow]")
            console.print(f"plate {number}: again in squares of {args.square}")
            torch.cuda.empty_cache()
            way = f"squares of {args.square}"
            clean = in_squares(network, plate, args.square)
        table.add_row(str(number), f"{args.width} x {args.height}", way, f"{(plate - clean).std().item():.4f}")
    console.print(table)


if __name__ == "__main__":
    main()

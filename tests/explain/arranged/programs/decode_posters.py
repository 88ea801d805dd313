# SPDX-License-Identifier: MIT
"""Decode latents of posters to images with a Stable Diffusion autoencoder, as the last step of a print shop's pipeline."""
import argparse

import torch
from diffusers import AutoencoderKL
from rich.console import Console
from rich.table import Table

console = Console(width=110)


def autoencoder():
    with torch.device("cuda"):
        return AutoencoderKL(block_out_channels=(128, 256, 512, 512), layers_per_block=2, latent_channels=4,
                             down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4).eval()


def decode(vae, latents, may_tile):
    try:
        return vae.decode(latents).sample
    except torch.OutOfMemoryError as error:
        if not may_tile:
            raise
        console.print(f"[yellow]warning:[/yellow] {str(error).split('.')[0]}; decoding in tiles instead")
    torch.cuda.empty_cache()
    vae.enable_tiling()
    return vae.decode(latents).sample


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--height", type=int, default=1024)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--tile", action="store_true", help="fall back to tiles")
    args = parser.parse_args()
    vae = autoencoder()
    table = Table("what", "value", title="Poster decoder")
    table.add_row("card", torch.cuda.get_device_name())
    table.add_row("weights", f"{torch.cuda.memory_allocated() / 2**20:.0f} MiB")
    table.add_row("picture", f"{args.copies} x {args.width} x {args.height}")
    console.print(table)
    latents = torch.zeros(args.copies, 4, args.height // 8, args.width // 8, device="cuda")
    picture = decode(vae, latents, args.tile)
    console.print(f"decoded {tuple(picture.shape)}, peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")


if __name__ == "__main__":
    main()

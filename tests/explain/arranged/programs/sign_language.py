# SPDX-License-Identifier: MIT
"""Recognise signs of sign language in short clips, with Lightning."""
import argparse
import os
import warnings

import lightning as L
import torch
from torch import nn

warnings.filterwarnings("ignore")


class Clips(torch.utils.data.Dataset):
    """Clips of one signer each, 8 bits per colour."""

    def __init__(self, clips, frames, side):
        self.clips, self.frames, self.side = clips, frames, side

    def __len__(self):
        return self.clips

    def __getitem__(self, number):
        clip = torch.full((3, self.frames, self.side, self.side), number % 251, dtype=torch.uint8)
        return clip, number % 40


class SignNetwork(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.AvgPool3d((4, 8, 8)), nn.Conv3d(3, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(),
                                    nn.Linear(16, 40))

    def training_step(self, batch, number):
        clips, signs = batch
        loss = nn.functional.cross_entropy(self.layers(clips.float() / 255), signs)
        if number % 2 == 0:
            self.print(f"batch {number}: loss {loss.item():.3f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=256)
    parser.add_argument("--frames", type=int, default=32)
    parser.add_argument("--side", type=int, default=160)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--accelerator", default="cpu")
    args = parser.parse_args()
    L.seed_everything(3)
    room = os.statvfs("/dev/shm")
    print(f"clips of {args.frames} x {args.side} x {args.side}, batch {args.batch} = {args.batch * 3 * args.frames * args.side**2 / 2**20:.0f} MiB, "
          f"{args.workers} workers, /dev/shm has {room.f_bavail * room.f_frsize / 2**20:.0f} MiB")
    loader = torch.utils.data.DataLoader(Clips(args.clips, args.frames, args.side), args.batch, num_workers=args.workers, drop_last=True)
    trainer = L.Trainer(accelerator=args.accelerator, devices=1, max_epochs=1, limit_train_batches=8, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False)
    trainer.fit(SignNetwork(), loader)
    print("training is over")


if __name__ == "__main__":
    main()

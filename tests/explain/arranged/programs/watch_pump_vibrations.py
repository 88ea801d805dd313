# SPDX-License-Identifier: MIT
"""Detect faults of pumps from vibration spectrograms, with Lightning."""
import argparse

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PumpWatch(L.LightningModule):
    def __init__(self, summary):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1))
        self.decoder = nn.Sequential(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
                                     nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1))
        self.summary, self.outputs = summary, []

    def training_step(self, batch, _):
        x, = batch
        features = self.encoder(x)
        rebuilt = self.decoder(features)
        loss = nn.functional.mse_loss(rebuilt, x)
        self.log("loss", loss, prog_bar=True)
        self.outputs.append(loss.detach() if self.summary == "loss" else features.detach())
        return loss

    def on_train_batch_end(self, outputs, batch, number):
        if number % 5 == 0 and self.device.type == "cuda":
            print(f" batch {number}: {torch.cuda.memory_allocated(self.device) / 2**20:.0f} MiB allocated")

    def on_train_epoch_end(self):
        print(f"\nmean {self.summary} {torch.stack([output.mean() for output in self.outputs]).mean().item():.5f}")
        self.outputs.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--recordings", type=int, default=1600)
    parser.add_argument("--summary", choices=("loss", "features"), default="features")
    parser.add_argument("--accelerator", default="auto")
    args = parser.parse_args()
    data = TensorDataset(torch.zeros(1, 1, 256, 256).expand(args.recordings, 1, 256, 256))
    trainer = L.Trainer(max_epochs=1, accelerator=args.accelerator, devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False)
    trainer.fit(PumpWatch(args.summary), DataLoader(data, batch_size=args.batch))


if __name__ == "__main__":
    main()

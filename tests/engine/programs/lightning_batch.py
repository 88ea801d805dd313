# SPDX-License-Identifier: MIT
"""The batch that fits, as Lightning's BatchSizeFinder looks for it, with convolutions"""
import tempfile

import lightning
import torch
from lightning.pytorch.callbacks import BatchSizeFinder
from torch import nn


class Network(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.batch_size = 64
        self.layers = nn.Sequential(nn.Conv2d(3, 256, 3), nn.ReLU(), nn.Conv2d(256, 256, 3), nn.Flatten(), nn.LazyLinear(10))
        self.layers(torch.zeros(1, 3, 64, 64))

    def training_step(self, batch):
        return nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self):
        data = torch.utils.data.TensorDataset(torch.zeros(1, 3, 64, 64).expand(16384, -1, -1, -1), torch.zeros(16384, dtype=torch.long))
        return torch.utils.data.DataLoader(data, batch_size=self.batch_size)


with tempfile.TemporaryDirectory() as folder:
    model = Network()
    finder = BatchSizeFinder(mode="binsearch", init_val=64, steps_per_trial=2, max_trials=12)
    trainer = lightning.Trainer(max_steps=2, accelerator="gpu", devices=1, callbacks=[finder], default_root_dir=folder, logger=False,
                                enable_progress_bar=False, enable_checkpointing=False)
    trainer.fit(model)
print("batch:", model.batch_size)

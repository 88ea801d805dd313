# SPDX-License-Identifier: MIT
"""Lightning: a Trainer that stops early and keeps the best checkpoint, with a metric of torchmetrics."""
import tempfile

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

torch.manual_seed(0)


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 4))
        self.accuracy = MulticlassAccuracy(4)

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        scores = self.net(x)
        self.accuracy(scores, y)
        self.log("val_loss", nn.functional.cross_entropy(scores, y), prog_bar=True)
        self.log("val_accuracy", self.accuracy)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)}


data = TensorDataset(torch.randn(64, 32), torch.randint(0, 4, (64,)))
folder = tempfile.mkdtemp()
trainer = L.Trainer(
    max_epochs=4, accelerator="auto", devices=1, precision="16-mixed" if torch.cuda.is_available() else "32-true",
    gradient_clip_val=1.0, logger=False, default_root_dir=folder, enable_progress_bar=False,
    callbacks=[EarlyStopping("val_loss", patience=2), ModelCheckpoint(folder, monitor="val_accuracy", mode="max")])
trainer.fit(Classifier(), DataLoader(data, 16), DataLoader(data, 16))
print("epochs:", trainer.current_epoch)

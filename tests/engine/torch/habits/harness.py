# SPDX-License-Identifier: MIT
"""
Two ways in which people's programs are driven: a trainer with callbacks, as of transformers, and a module with hooks, as of
Lightning. Programs that use them have the loop here and the fault in their own file.
"""
import collections.abc

import torch
from torch import nn

from parts import turns


class Callback:
    def on_step_begin(self, trainer: "Trainer") -> None: ...
    def on_step_end(self, trainer: "Trainer") -> None: ...
    def on_epoch_end(self, trainer: "Trainer") -> None: ...


class Trainer:
    """Its loop is two deep: epochs, and steps in them."""

    def __init__(self, model: nn.Module, batches: collections.abc.Callable, n_epochs: int = 4, n_steps: int = 8,
                 callbacks: tuple[Callback, ...] = (), lr: float = 1e-3) -> None:
        self.model, self.batches, self.n_epochs, self.n_steps = model.cuda(), batches, n_epochs, n_steps
        self.callbacks, self.step, self.log_history = callbacks, 0, []
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def call(self, name: str) -> None:
        for callback in self.callbacks:
            getattr(callback, name)(self)

    def compute_loss(self, inputs: torch.Tensor) -> torch.Tensor:
        self.outputs = self.model(inputs)
        return self.outputs.square().mean()

    def training_step(self, inputs: torch.Tensor) -> torch.Tensor:
        self.model.train()
        loss = self.compute_loss(inputs)
        loss.backward()
        return loss.detach()

    def train(self) -> None:
        for _ in range(self.n_epochs):
            for _ in turns(self.n_steps):
                inputs = self.batches(self.step)
                self.call("on_step_begin")
                self.loss = self.training_step(inputs)
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.step += 1
                self.call("on_step_end")
            self.call("on_epoch_end")


class LightModule(nn.Module):
    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor: ...
    def validation_step(self, batch: torch.Tensor, index: int) -> None: ...
    def on_validation_epoch_end(self) -> None: ...
    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def fit(module: LightModule, batches: collections.abc.Callable, n_epochs: int = 14, n_steps: int = 3, n_checks: int = 2) -> None:
    """An epoch is a turn: steps, and then a validation."""
    module.cuda()
    optimizer = module.configure_optimizers()
    for _ in turns(n_epochs):
        module.train()
        for index in range(n_steps):
            loss = module.training_step(batches(index), index)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        module.eval()
        with torch.no_grad():
            for index in range(n_checks):
                module.validation_step(batches(index), index)
            module.on_validation_epoch_end()

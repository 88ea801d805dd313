# SPDX-License-Identifier: MIT
"""Looks like PyTorch's module of this name as far as its documented hook for steps goes."""
from __future__ import annotations

from collections.abc import Callable

hooks: list[Callable[..., None]] = []


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> None:
    hooks.append(hook)


class Optimizer:
    def step(self) -> None:
        for hook in hooks:
            hook(self, (), {})

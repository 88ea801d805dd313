# SPDX-License-Identifier: MIT
"""
Writes every operator that PyTorch dispatches in a process, one a line, with the types and shapes of what it returns:

    aten.mul.Tensor float32[4,54,256]

Operators that copy have what they copy from in front: `float32[4,54] > bfloat16[4,54]`. Tensors without data (meta)
are no work of a device and are left out. An operator that is made of others counts as one.
"""
from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import sys

COPIES = ("aten._to_copy.default", "aten.copy_.default")
is_paused = False


def as_kernel(function):
    """A kernel of the card, in operators on the CPU: what it dispatches is not written."""

    @functools.wraps(function)
    def run(*arguments, **keywords):
        global is_paused
        is_paused = True
        try:
            return function(*arguments, **keywords)
        finally:
            is_paused = False

    return run


def choose_as_on_a_card(module) -> None:
    """Libraries that choose by the type of the device choose on the CPU as they do for a card: names to a choice (run.py)."""
    answers = {"true": True, "lists": (False, True)}  # of the latter: is it fused, does it take lists of tensors
    for name, choice in json.loads(os.environ.get("PLIM_TEST_AS_ON_A_CARD", "{}")).items():
        owner, _, attribute = name.rpartition(".")
        if owner == module.__name__:
            function = as_kernel(getattr(module, attribute)) if choice == "kernel" else lambda *_, choice=choice, **__: answers[choice]
            setattr(module, attribute, function)


def start(path: str) -> None:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    process, file = os.getpid(), open(path, "w", encoding="utf-8")

    def tensors(values) -> list[torch.Tensor]:
        return [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]

    def describe(values) -> str:
        return " ".join(f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, value.shape))}]" for value in tensors(values))

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, arguments=(), keywords=None):
            returned = operator(*arguments, **(keywords or {}))
            if is_paused or os.getpid() != process or any(value.is_meta for value in tensors((arguments, keywords, returned))):
                return returned
            name = str(operator)
            copied = f"{describe(arguments[name == COPIES[1]])} > " if name in COPIES else ""
            file.write(f"{name} {copied}{describe(returned)}\n")
            file.flush()
            return returned

    Recorder().__enter__()  # and never out of it


class Loader(importlib.abc.Loader):
    """Loads a module, then does something about it."""

    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        self.then(module)


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self, actions: dict):
        self.actions = actions

    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name in self.actions else None
        if spec:
            spec.loader = Loader(spec.loader, self.actions[name])
        return spec


def record_when_torch_is_loaded(folder: str) -> None:
    """One file for each rank; what starts the ranks has none."""
    if "TORCHELASTIC_RUN_ID" not in os.environ and "torch.distributed.run" in " ".join(sys.orig_argv):
        return
    actions = {name.rpartition(".")[0]: choose_as_on_a_card for name in json.loads(os.environ.get("PLIM_TEST_AS_ON_A_CARD", "{}"))}
    actions["torch"] = lambda _: start(os.path.join(folder, f"rank{os.environ.get('RANK', '0')}.txt"))
    sys.meta_path.insert(0, Finder(actions))

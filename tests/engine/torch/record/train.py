# SPDX-License-Identifier: MIT
"""
Small training loops for `plimsoll rehearse --record`. What they hold at the end they say themselves.

    train.py KIND [STEPS]

Prints JSON: bytes of weights and buffers, of gradients before they are given back, of the optimizer's states.
"""
import json
import sys

import torch
from torch import nn

KIND = sys.argv[1]
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
WIDTH, BATCH = 64, 128


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.BatchNorm1d(4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def inner(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.norm(self.up(x))))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if KIND == "checkpoint":
            from torch.utils.checkpoint import checkpoint

            return checkpoint(self.inner, x, use_reentrant=False)
        return self.inner(x)


def held(tensors) -> int:
    """Bytes of the storages, each once."""
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors if t is not None and t.is_cuda}
    return sum(storages.values())


def make_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    wanted = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if KIND == "sgd":
        return torch.optim.SGD(wanted, lr=0.1, momentum=0.9)
    return torch.optim.AdamW(wanted, lr=1e-3)


def evaluate(model: nn.Module) -> float:
    @torch.no_grad()
    def look() -> float:
        return model(torch.randn(BATCH, WIDTH, device="cuda")).sum().item()

    return look()


def infer() -> None:
    """Nothing of it is there when Python ends."""
    model = Model().cuda().eval()
    evaluate(model)
    print(json.dumps({"weights": held([*model.parameters(), *model.buffers()]), "gradients": 0, "optimizer": 0,
                      "allocated_peak": torch.cuda.max_memory_allocated(), "reserved_peak": torch.cuda.max_memory_reserved()}))


def main() -> tuple:
    model = Model().cuda()
    if KIND == "frozen":
        model.up.requires_grad_(False)
    optimizer = make_optimizer(model)
    scaler = torch.cuda.amp.GradScaler(enabled=KIND == "scaler")
    gradients = 0
    data = torch.randn(8 * BATCH, WIDTH, device="cuda") if KIND == "kept" else None
    for _ in range(STEPS):
        for _ in range(2 if KIND == "accumulate" else 1):
            x = torch.randn(BATCH, WIDTH).cuda()
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=KIND == "scaler"):
                loss = (model(x) ** 2).mean()
            scaler.scale(loss).backward()
        if KIND == "accumulate":
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        gradients = held(parameter.grad for parameter in model.parameters())
        optimizer.zero_grad()
    if KIND == "evaluate":
        evaluate(model)
    states = [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
    kept = held([data, *(getattr(scaler, name, None) for name in ("_scale", "_growth_tracker"))])
    print(json.dumps({"kept": kept, "weights": held([*model.parameters(), *model.buffers()]), "gradients": gradients,
                      "optimizer": held(states), "allocated_peak": torch.cuda.max_memory_allocated(),
                      "reserved_peak": torch.cuda.max_memory_reserved()}))
    return model, optimizer


KEPT = infer() if KIND == "inference" else main()

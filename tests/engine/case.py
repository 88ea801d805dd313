# SPDX-License-Identifier: MIT
"""
One model in one setup: what the engine allocated beside what the bill says.
"""
from __future__ import annotations

from dataclasses import dataclass, field

ROUNDED_MIB = 0.0051  # the engine rounds each buffer it prints to 0.01
EXACT_LABELS = ("model buffer", "KV buffer", "RS buffer", "output buffer")


@dataclass
class Case:
    """One model in one setup: (device, label) -> MiB on either side."""

    model: str
    arch: str
    setup: str
    engine: dict = field(default_factory=dict)
    n_printed: dict = field(default_factory=dict)  # how many buffers the engine's figure is the sum of
    bill: dict = field(default_factory=dict)  # -> (MiB, low, high)
    flags: str = ""
    refused: str = ""  # why the engine turns the setup down
    version: str = "v0.5.0"
    outside: set = field(default_factory=set)  # devices whose compute buffer is known to be outside its band
    given: tuple[int, list[str]] = (0, [])  # number of cards, flags of the command


def wrong_buffers(case: Case) -> list[str]:
    """Exact buffers that differ, in words."""
    wrong = []
    for device, label in sorted(set(case.engine) | set(case.bill)):
        if label not in EXACT_LABELS:
            continue
        engine = case.engine.get((device, label), 0.0)
        bill = case.bill.get((device, label), (0.0, 0.0, 0.0))[0]
        if abs(engine - bill) > ROUNDED_MIB * max(case.n_printed.get((device, label), 1), 1):
            wrong.append(f"{device} {label}: engine {engine:.2f}, bill {bill:.2f} MiB")
    return wrong


@dataclass
class Activation:
    case: Case
    device: str
    truth: float
    bytes: float
    low: float
    high: float
    rounded: float

    @property
    def is_equal(self) -> bool:
        return abs(self.truth - self.bytes) <= self.rounded

    @property
    def error(self) -> float:
        return self.bytes / self.truth - 1

    @property
    def width(self) -> float:
        return (self.high - self.low) / self.truth

    @property
    def is_inside(self) -> bool:
        return self.low - self.rounded <= self.truth <= self.high + self.rounded


def activations(case: Case) -> list[Activation]:
    found = []
    for (device, label), truth in case.engine.items():
        if label == "compute buffer" and truth > 0:
            mid, low, high = case.bill.get((device, label), (0.0, 0.0, 0.0))
            rounded = ROUNDED_MIB * case.n_printed[device, label]
            found.append(Activation(case, device, truth, mid, low, high, rounded))
    return found

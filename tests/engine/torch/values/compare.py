# SPDX-License-Identifier: MIT
"""
A result of the virtual GPU beside the truth, element by element: equal, a guess that is marked as one, or wrong.
Whether an element is marked is asked of the virtual GPU before anything is read back.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field

import torch

GUESS, KEPT, KNOWN = 0, 1, 2
# of a dtype: how far two right results lie apart, as share of the value (one rounding step or a few), and near zero
TOLERANCE = {
    "float64": (1e-10, 1e-10),
    "float32": (3e-6, 1e-5),
    "bfloat16": (1.6e-2, 1e-4),
    "float16": (2e-3, 1e-4),
    "float8_e4m3fn": (0.13, 0.01),
    "float8_e5m2": (0.26, 0.01),
    "complex64": (3e-6, 1e-5),
    "complex128": (1e-10, 1e-10),
}
NARROW_SLACK = 2.0  # at most, for the narrow types: their sums are made in wider ones
# where terms may cancel, and the CPU rounds each of them: of values of a few units
CANCELLED = {"bfloat16": 0.03, "float16": 0.004}
MOST_ASKED = 2000  # different elements whose certainty is asked one by one


class Certainty:
    """What the virtual GPU says of its memory. Where it cannot say anything, everything counts as known."""

    def __init__(self) -> None:
        try:
            cuda = ctypes.CDLL("libcuda.so.1")
            self.values_known, self.values_last_read = cuda.plim_values_known, cuda.plim_values_last_read
            self.values_known.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
            self.can_say = True
        except (OSError, AttributeError):
            self.can_say = False

    def of_memory(self, address: int, size_bytes: int) -> int:
        return self.values_known(address, size_bytes) if self.can_say and size_bytes else KNOWN

    def of_reads(self) -> int:
        """The least of what the program has read since this was asked last."""
        return self.values_last_read() if self.can_say else KNOWN


@dataclass
class Compared:
    certainty: Certainty
    slack: float
    cancels: bool = False
    path: int = KNOWN  # of the reads that led here
    least: int = KNOWN
    n_different: int = 0
    wrong: list[str] = field(default_factory=list)

    def differs(self, what: str, known: int) -> None:
        self.n_different += 1
        if min(known, self.path) == KNOWN:
            self.wrong.append(what)

    def value(self, truth, got, place: str = "") -> None:
        """The truth is of the CPU, got of the device; tensors, numbers, and what holds them."""
        if isinstance(truth, torch.Tensor) and isinstance(got, torch.Tensor):
            self.tensor(truth, got, place)
        elif isinstance(truth, dict) and isinstance(got, dict) and list(truth) == list(got):
            for key in truth:
                self.value(truth[key], got[key], f"{place}[{key!r}]")
        elif isinstance(truth, (tuple, list)) and isinstance(got, (tuple, list)):
            if len(truth) != len(got):
                self.differs(f"{place} has {len(got)} items, not {len(truth)}", self.path)
            for i, (one, other) in enumerate(zip(truth, got)):
                self.value(one, other, f"{place}[{i}]")
        elif isinstance(truth, float) and isinstance(got, float):
            if not near(truth, got, "float32", self.slack):
                self.differs(f"{place} is {got}, not {truth}", self.path)
        elif type(truth) is not type(got) or truth != got:
            self.differs(f"{place} is {got!r}, not {truth!r}"[:300], self.path)

    def tensor(self, truth, got, place: str) -> None:
        if truth.dtype != got.dtype or truth.shape != got.shape:
            what = f"{place} is {got.dtype}{list(got.shape)}, not {truth.dtype}{list(truth.shape)}"
            self.differs(what, self.path)
            return
        if not got.numel():
            return
        if got.device.type == "cpu":
            least, flat = self.path, None
        else:
            flat = got.detach().contiguous()
            least = self.certainty.of_memory(flat.data_ptr(), flat.numel() * flat.element_size())
        self.least = min(self.least, least)
        values, truth = (got if flat is None else flat).detach().cpu().reshape(-1), truth.detach().reshape(-1)
        different = torch.nonzero(~equal(truth, values, self.slack, self.cancels)).reshape(-1).tolist()
        for i in different[:: len(different) // MOST_ASKED + 1]:
            known = least
            if flat is not None:
                known = self.certainty.of_memory(flat.data_ptr() + i * flat.element_size(), flat.element_size())
            how_many = f"{len(different)} of {len(values)} differ"
            self.differs(f"{place} has {values[i].item()} at {i}, not {truth[i].item()} ({how_many})", known)
            if self.wrong:
                break


def tolerance(dtype: str, slack: float) -> tuple[float, float]:
    share, least = TOLERANCE[dtype]
    slack = min(slack, NARROW_SLACK) if share > 1e-3 else slack
    return share * slack, least * slack


def near(truth: float, got: float, dtype: str, slack: float) -> bool:
    share, least = tolerance(dtype, slack)
    if math.isnan(truth) or math.isnan(got):
        return math.isnan(truth) and math.isnan(got)
    return truth == got or abs(truth - got) <= least + share * abs(truth)


def equal(truth, got, slack: float, cancels: bool = False):
    """Flags, one for each element."""
    name = str(truth.dtype).removeprefix("torch.")
    if name not in TOLERANCE:
        return truth == got
    if truth.is_complex():
        same = equal(torch.view_as_real(truth.to(torch.complex64)), torch.view_as_real(got.to(torch.complex64)), slack)
        return same.all(-1)
    share, least = tolerance(name, slack)
    least = max(least, CANCELLED.get(name, 0.0) if cancels else 0.0)
    truth, got = truth.double(), got.double()
    same = (truth == got) | (truth.isnan() & got.isnan())
    return same | ((truth - got).abs() <= least + share * truth.abs()) & truth.isfinite() & got.isfinite()

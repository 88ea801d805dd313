# SPDX-License-Identifier: MIT
"""The table of docs/accuracy.md about forecasts: each comparison writes its row."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import page  # noqa: E402

CONVERTED = "tensors, types and metadata, beside those that llama.cpp's converter and quantizer wrote"
PUBLISHED = "sizes of published files: to 0.1 % or the last printed digit, and at most 16 MiB of vocabulary more"
BILLS = "bills of a config, beside those of the file that it becomes: every line, to the byte"
HEAD = [
    "Rules of llama.cpp v0.5.0. Each script of `tests/engine/convert` writes its row with `--page docs/accuracy.md`: `check.py`,",
    "`published.py`, `bills.py --all`. *Without a forecast* are those whose architecture has no rules, or whose config is not in",
    "the catalogue.",
    "",
    "| compared | what | equal | different | without a forecast |",
    "| --- | --- | ---: | ---: | ---: |",
]


def write_row(path: str, row: str, what: str, n_equal: int, n_different: int, without: str) -> None:
    cells = [what, f"{n_equal:,} of {n_equal + n_different:,}", f"{n_different:,}", without]
    page.update(path, "forecasts", HEAD, {row: cells}, [CONVERTED, PUBLISHED, BILLS])

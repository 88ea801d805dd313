# SPDX-License-Identifier: MIT
"""The table of docs/accuracy.md: the memory that PyTorch says it has reserved, beside the ledger of the rehearsal."""
from __future__ import annotations

import re
from dataclasses import dataclass

BEGIN, END = "<!-- torch:begin -->", "<!-- torch:end -->"


@dataclass
class Row:
    what: str  # the first sentence of the case
    card: str
    said_bytes: int | None  # by PyTorch, at the peak; None: it is meant to run out of memory
    ledger_bytes: int
    peak_bytes: int  # with context, kernels, workspaces
    is_right: bool


def line(row: Row) -> str:
    if row.said_bytes is None:
        cells = [row.what, row.card, "its error has the figures of the card" if row.is_right else "WRONG", "", ""]
    else:
        cells = [row.what, row.card, f"{row.said_bytes:,}", f"{row.ledger_bytes - row.said_bytes:,}" if row.is_right else "WRONG",
                 f"{row.peak_bytes / 2**20:,.0f} MiB"]
    return f"| {' | '.join(cells)} |"


def write(path: str, version: str, rows: list[Row]) -> None:
    """Put the table between the markers of a file."""
    table = [
        f"PyTorch {version} from PyPI, unchanged, no GPU and no driver on the machine. *Reserved* is what PyTorch's own allocator says at its",
        "peak, over all cards; *difference* what the ledger of the rehearsal has beside that. *Peak* has context, kernels and workspaces too,",
        "which are bands. `tests/engine/torch/suite.py --page docs/accuracy.md` writes this table.",
        "",
        "| program | card | reserved, bytes | difference | peak |",
        "| --- | --- | ---: | ---: | ---: |",
        *map(line, rows),
    ]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    with open(path, "w", encoding="utf-8") as file:
        file.write(pattern.sub(lambda _: "\n".join([BEGIN, *table, END]), text))

# SPDX-License-Identifier: MIT
"""Tables of docs/accuracy.md that several runs fill: rows keep their places, and those of this run are replaced."""
from __future__ import annotations

import re


def update(path: str, name: str, head: list[str], rows: dict[str, list[str]], order: list[str]) -> None:
    """Between the markers of `name`: `head` is text and the two lines above the rows; a row is found by its first cell.
    Rows whose first cell is not in `order` are dropped."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pattern = re.compile(f"<!-- {name}:begin -->(.*?)<!-- {name}:end -->", re.DOTALL)
    found = pattern.search(text)
    if not found:
        raise SystemExit(f"{path}: no table '{name}'")
    lines = {line.split("|")[1].strip(): line for line in found[1].splitlines() if line.startswith("|")}
    lines.update({key: f"| {' | '.join([key, *cells])} |" for key, cells in rows.items()})
    table = [f"<!-- {name}:begin -->", *head, *(lines[key] for key in order if key in lines), f"<!-- {name}:end -->"]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[: found.start()] + "\n".join(table) + text[found.end() :])

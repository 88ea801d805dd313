# SPDX-License-Identifier: MIT
"""
Search for the largest batches of design.py with `plimsoll rehearse --find`, and record a step on the same card for `fit --max`.

    largest.py --plimsoll PROGRAM --python PYTHON --data FOLDER [NAME...]

A row of FOLDER/largest.csv is what was found; the step is FOLDER/largest/NAME.step. What is there already is not done again.
"""
from __future__ import annotations

import argparse
import csv
import json
import os
import pathlib
import sys
import tempfile

import design
import program
import record

COLUMNS = ["name", "S", "card", "low", "high", "largest", "recovered"]  # recovered: a larger one that was met and completed, or none


def read_found(data: str) -> dict[design.Search, dict[str, str]]:
    path = pathlib.Path(data, "largest.csv")
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {design.Search(row["name"], int(row["S"]), row["card"]): row for row in csv.DictReader(file)}


def write_found(data: str, found: dict[design.Search, dict[str, str]]) -> None:
    path = f"{data}/largest.csv"
    with open(path + ".part", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found[search] for search in design.searches() if search in found)
    os.replace(path + ".part", path)


def find_between(a: argparse.Namespace, search: design.Search, low: int, high: int) -> dict:
    with tempfile.NamedTemporaryFile() as log:
        done = record.rehearsal(a, ["--json", "--log", log.name, "--find", f"B={low}..{high}"],
                                ["--name", search.name, "--batch", "{}", "--seq", str(search.length)], search.card)
    found = json.loads(done.stdout or "{}").get("find") or {}
    print(f"{search} {low}..{high}: {[(t['value'], t['outcome']) for t in found.get('trials', [])]} {done.stderr[-200:]}", flush=True)
    return found if found.get("decided") else {}


def find(a: argparse.Namespace, search: design.Search) -> dict[str, str] | None:
    truths = record.read_truths(f"{a.data}/truths.csv")
    low, high = search.range({(b, s): truth[1] for (name, b, s), truth in truths.items() if name == search.name})
    found = find_between(a, search, low, high)
    if found and found["largest"] in (None, high) or found.get("largest_of") == "completed":
        found = find_between(a, search, 2, 4096)
    if not found or found["largest"] is None or found["largest_of"] == "completed":
        return None
    return {"name": search.name, "S": str(search.length), "card": search.card, "low": str(found["low"]), "high": str(found["high"]),
            "largest": str(found["largest"]),
            "recovered": str(found["largest_recovered"] or "")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("plimsoll", "python", "data"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("names", nargs="*")
    a = parser.parse_args()
    found, is_whole = read_found(a.data), True
    folder = pathlib.Path(a.data, "largest").absolute()
    folder.mkdir(exist_ok=True)
    for search in design.searches():
        if search.name not in (a.names or program.PROGRAMS):
            continue
        step = folder / f"{search.name}.step"
        if not step.exists():
            is_whole &= record.record(a, search.name, search.batches(), [search.length], step, search.card)
        if search not in found and (row := find(a, search)):
            found = read_found(a.data) | {search: row}
            write_found(a.data, found)
        is_whole &= search in found
    sys.exit(0 if is_whole else 1)


if __name__ == "__main__":
    main()

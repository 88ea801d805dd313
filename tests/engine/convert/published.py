#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The sizes of published GGUF files beside those that Plimsoll says the models' configs and the recipes make.

    published.py --list PROGRAM [-v] [--page FILE]

tests/data/published.csv: the model, the recipe, the bytes of the file and the unit they were printed in (0: exact), whose
rules made it (files of other rules than llama.cpp's are kept and not compared, with the reason), the file, its source.
A file holds our tensors, its header and its vocabulary: its bytes are at least ours and at most 16 MiB more, to 0.1 % or
the last printed digit. Exit status: 0 all so, 1 some are not.
"""
from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import cases
import forecasts

ROOT = cases.ROOT
VOCABULARY_BYTES = 16 << 20
ALIGNMENT = 32
UNQUANTIZED = ("F16", "BF16")


def block_sizes() -> dict[str, tuple[int, int]]:
    """Elements and bytes of a block, by type."""
    with open(os.path.join(ROOT, "data", "quants.csv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "tensor" and row["bytes_per_block"]]
    return {row["name"].lower(): (int(row["block_size"]), int(float(row["bytes_per_block"]))) for row in rows}


def forecast(program: str, blocks: dict, row: dict) -> int | str:
    """The bytes of the tensors, or why there is no forecast."""
    try:
        config = cases.Case(row["id"].replace("/", "__")).config()
    except FileNotFoundError:
        return "no config in the catalogue"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        command = [program, file.name, *([] if row["quant"] in UNQUANTIZED else [row["quant"]])]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip() or f"exit status {done.returncode}"
    total = 0
    for line in done.stdout.splitlines():
        word, *rest = line.split("\t")
        if word == "tensor":
            elements, width = blocks[rest[1].lower()]
            size = math.prod(map(int, rest[2:])) // elements * width
            total += -(-size // ALIGNMENT) * ALIGNMENT
    return total


def is_met(row: dict, ours: int) -> bool:
    size, unit = int(row["bytes"]), int(row["unit"])
    slack = max(size // 1000, unit)
    return -slack <= size - ours <= VOCABULARY_BYTES + slack


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare published sizes of GGUF files with our forecasts.")
    parser.add_argument("--list", required=True, help="convert_list")
    parser.add_argument("-v", "--verbose", action="store_true", help="every file")
    parser.add_argument("--page", metavar="FILE", help="write the row of docs/accuracy.md there")
    options = parser.parse_args()
    blocks = block_sizes()
    with open(os.path.join(ROOT, "tests", "data", "published.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    compared = [row for row in rows if row["rules"] == "llama.cpp"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda row: forecast(options.list, blocks, row), compared))
    n_met = n_wrong = 0
    for row, ours in zip(compared, found):
        what = f"{row['id']} {row['quant']}"
        if isinstance(ours, str):
            if options.verbose:
                print(f"-         {what}: {ours}")
        elif is_met(row, ours):
            n_met += 1
            if options.verbose:
                print(f"met       {what}: {int(row['bytes']) - ours} bytes beside our tensors")
        else:
            n_wrong += 1
            print(f"DIFFERENT {what}: published {row['bytes']} ({row['file']}), ours {ours}")
    print(f"{len(rows)} published files, {len(rows) - len(compared)} by other rules than llama.cpp's; of the rest "
          f"{n_met} met, {n_wrong} not, {len(compared) - n_met - n_wrong} without a forecast")
    if options.page:
        n_models = len({row["id"] for row in compared})
        forecasts.write_row(options.page, forecasts.PUBLISHED, f"{len(compared)} files of {n_models} models", n_met, n_wrong,
                            f"{len(compared) - n_met - n_wrong} files")
    return 1 if n_wrong or not n_met else 0


if __name__ == "__main__":
    sys.exit(main())

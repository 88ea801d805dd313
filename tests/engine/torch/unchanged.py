#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The ledger with values and without: each case of suite.py is rehearsed with --values zero and with --values off. What is
known of device memory is charged nothing, so the ledger of a program whose path reads no value is the same to the byte.
Of the others the places are listed where the program read a value.

    unchanged.py --plimsoll P --python VENV/bin/python [CASE...]

Exit status 1: a ledger differs though the program read nothing that may steer it.
"""
from __future__ import annotations

import argparse
import sys
import tempfile

import suite


def ledger_of(receipt: dict) -> list:
    """The exact lines at the peak and at the end, of each card."""
    return [[(line["label"], line["bytes"]) for line in card[when] if line["basis"] == "exact"]
            for card in receipt["devices"] for when in ("lines", "end_lines")]


def reads_of(receipt: dict) -> list[str]:
    """The places where the run without values read something that may steer the program."""
    return sorted({place["where"] for place in receipt["path"].get("places", [])})


def rehearse(options: argparse.Namespace, case: suite.Case, values: str, folder: str) -> dict:
    said = dict(case.says, options=f"{case.says.get('options', '')} --values {values}")
    return suite.run(options, suite.Case(case.name, case.path, said), folder)[1]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True)
    options = parser.parse_args()
    n_wrong = 0
    for case in [suite.read_case(name) for name in options.cases] or suite.all_cases():
        missing = suite.lacks(options.python, case)
        if missing:
            print(f"skip       {case.name}: no {missing}", flush=True)
            continue
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            known, unknown = rehearse(options, case, "zero", one), rehearse(options, case, "off", other)
        if not known or not unknown:
            print(f"no receipt {case.name}", flush=True)
            n_wrong += 1
            continue
        reads = reads_of(unknown)
        if ledger_of(known) == ledger_of(unknown):
            print(f"identical  {case.name}: {len(reads)} places read a value", flush=True)
            continue
        print(f"{'differs' if reads else 'WRONG':<10} {case.name}", flush=True)
        for name, receipt in (("zero", known), ("off", unknown)):
            sums = [sum(size for _, size in lines) for lines in ledger_of(receipt)]
            print(f"           --values {name}: {sums} bytes, path {receipt['path'].get('verdict')}", flush=True)
        for where in reads:
            print(f"           read at {where}", flush=True)
        n_wrong += not reads
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

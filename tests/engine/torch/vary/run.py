#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`plimsoll rehearse --record --vary` on real PyTorch: what the step says of a size that was never recorded, against a run of it.

    run.py --plimsoll P --python VENV/bin/python [--all]

Short: four recordings, one other size. --all: three values of each variable, a batch of one, four other sizes, and sums that
take work areas. Exit status: 0 all of it holds, 1 it does not, 77 PyTorch is not there (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(__file__).with_name("train.py"))
CARD = "RTX 4090"
TIMEOUT_S = 1500
MOST_ERROR = 0.02


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    if done.returncode:
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def truth(options: argparse.Namespace, batch: int, length: int) -> dict:
    said = run([options.plimsoll, "rehearse", "--card", CARD, "-q", "--", options.python, PROGRAM, str(batch), str(length)])
    return json.loads(said)


def told(options: argparse.Namespace, step: str, batch: int, length: int) -> dict:
    answer = json.loads(run([options.plimsoll, "fit", step, "--card", CARD, "--set", f"B={batch}", "--set", f"S={length}", "--json"]))
    return {"allocated": answer["step"]["allocated_peak_bytes"], "reserved": answer["step"]["reserved_peak_bytes"]}


def record(options: argparse.Namespace, folder: str) -> str:
    step = os.path.join(folder, "run.step")
    values = ["--vary", "B=1,2,3", "--vary", "S=128,256,384"] if options.all else ["--vary", "B=2,3", "--vary", "S=32,64"]
    run([options.plimsoll, "rehearse", "--card", CARD, "-q", "--log", os.devnull, "--record", step, *values, "--",
         options.python, PROGRAM, "{B}", "{S}"])
    if os.path.exists(step + ".parts"):
        sys.exit("the recordings were left behind")
    return step


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not os.access(options.python, os.X_OK):
        print(f"skipped: there is no {options.python}")
        return 77
    points = [(1, 192), (3, 192), (12, 256), (3, 1536)] if options.all else [(5, 160)]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        step = record(options, folder)
        for batch, length in points:
            expected, found = truth(options, batch, length), told(options, step, batch, length)
            errors = {name: abs(found[name] - expected[name]) / expected[name] for name in expected}
            is_right = max(errors.values()) <= MOST_ERROR
            failures += not is_right
            print(f"B={batch} S={length}: {'right' if is_right else 'WRONG'}: {found} for {expected}")
    return 1 if failures else 0


sys.exit(main())

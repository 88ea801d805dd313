#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The evidence that a rehearsed program takes the right path: the sequence of operators that PyTorch dispatches, with the
types and shapes of what they return, is from start to end that of the same program on PyTorch's CPU.

    operators.py --plimsoll P --python VENV/bin/python --group GROUP [PROGRAM...]     compare with what is recorded
    operators.py --record ...                                                         record on the CPU

hook/recorder.py writes the sequence; the programs do not change. tests/data/operators has those of the CPU. Devices do
not have the same operators: differences.py lists what only one of them has, with the reason.
"""
from __future__ import annotations

import argparse
import difflib
import gzip
import json
import os
import sys
import tempfile

import differences
import run

DATA = os.path.join(run.HERE, "..", "..", "data", "operators")


def path_of(name: str) -> str:
    return os.path.join(DATA, name + ".gz")


def record(options: argparse.Namespace, program: run.Program, device: str, folder: str) -> tuple[str, str]:
    """The operators of all ranks, and what is wrong ("": nothing)."""
    as_cpu = {"CUDA_VISIBLE_DEVICES": "", "PLIM_TEST_AS_ON_A_CARD": json.dumps(program.as_on_a_card)}
    program.environment |= {"PLIM_TEST_OPERATORS": folder} | (as_cpu if device == "cpu" else {})
    status, said, _ = run.rehearse(options, program, folder)
    if status:
        return "", f"exit {status}: {said.strip()[-1500:]}"
    ranks = sorted(name for name in os.listdir(folder) if name.startswith("rank"))
    texts = []
    for rank in ranks:
        with open(os.path.join(folder, rank), encoding="utf-8") as file:
            texts.append(f"= {rank.removesuffix('.txt')}\n{file.read()}")
    return "".join(texts), "" if texts else "no operators were recorded"


def first_difference(card: list[str], cpu: list[str]) -> list[str]:
    """In words; []: none."""
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, card, cpu, autojunk=False).get_opcodes() if card != cpu else []:
        if tag != "equal":
            return [f"operator {i1} of {len(card)} (CPU: {j1} of {len(cpu)}), after", *("    " + line for line in card[max(i1 - 3, 0):i1]),
                    "  the card has", *("    " + line for line in card[i1:i2][:8]), "  the CPU has", *("    " + line for line in cpu[j1:j2][:8])]
    return []


def compare(options: argparse.Namespace, program: run.Program, folder: str) -> list[str]:
    card, wrong = record(options, program, "cuda", folder)
    if wrong:
        return [wrong]
    with gzip.open(path_of(program.name), "rt", encoding="utf-8") as file:
        cpu = file.read()
    return first_difference(differences.normalise(card, "cuda", program.name), differences.normalise(cpu, "cpu", program.name))


def main() -> int:
    parser = run.arguments()
    parser.add_argument("--record", action="store_true")
    options = run.parse(parser)
    n_wrong = 0
    for program in run.chosen(options):
        if not options.record and not os.path.exists(path_of(program.name)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            if options.record:
                text, wrong = record(options, program, "cpu", folder)
                lines = [wrong] if wrong else []
                if text:
                    os.makedirs(DATA, exist_ok=True)
                    with open(path_of(program.name), "wb") as file:
                        file.write(gzip.compress(text.encode(), mtime=0))
            else:
                lines = compare(options, program, folder)
        print(f"{'FAIL' if lines else 'ok  '}  {program.name}", *("      " + line.replace("\n", "\n      ") for line in lines), sep="\n", flush=True)
        n_wrong += bool(lines)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Lay what Plimsoll says llama-quantize makes of a model beside what it makes.

llama.cpp's own quantizer decides, as a dry run, the type of every tensor of every model for every file type; the
decisions are compared with those of plim_model_requantize(), from which the sizes of other files of a model come.

    quant_recipes.py --list PROGRAM --probe PROGRAM --engine DIR --models-dir DIR [MODEL...]

Exit status: 0 all decisions are the same, 1 some are not, 77 the engine is not there (skipped).
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import engine


def decisions(text: str) -> dict[str, dict[str, str]]:
    """File type -> tensor -> type."""
    found: dict = defaultdict(dict)
    for line in text.splitlines():
        ftype, tensor, dtype = line.split("\t")
        found[ftype][tensor] = dtype.lower()
    return found


def engine_decisions(options: argparse.Namespace, path: str, ftypes: list[str], imatrix: bool) -> dict:
    if not ftypes:
        return {}
    command = [options.probe, options.engine, path, *(["--imatrix"] if imatrix else []), *ftypes]
    environment = dict(os.environ, LD_LIBRARY_PATH=options.engine)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return decisions(done.stdout)


def compare(options: argparse.Namespace, path: str) -> tuple[str, int, list[str]]:
    """The model, how many decisions were compared, and those that differ, in words."""
    listed = subprocess.run([options.list, path], capture_output=True, text=True, check=True)
    ours = decisions(listed.stdout)
    plain = engine_decisions(options, path, [ftype for ftype in ours if not ftype.endswith("i")], False)
    weighed = engine_decisions(options, path, [ftype[:-1] for ftype in ours if ftype.endswith("i")], True)
    theirs = {**plain, **{ftype + "i": found for ftype, found in weighed.items()}}
    n = 0
    different = []
    for ftype, tensors in ours.items():
        for tensor, dtype in theirs.get(ftype, {}).items():
            n += 1
            if tensors.get(tensor) != dtype:
                different.append(f"file type {ftype} {tensor}: engine {dtype}, ours {tensors.get(tensor)}")
    return engine.name_of(path), n, different


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare quantization recipes with llama.cpp's own quantizer.")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="models whose names begin so (default: all)")
    parser.add_argument("--list", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--engine", required=True, help="folder of llama.cpp's libraries")
    parser.add_argument("--models-dir", required=True)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if not engine.is_there(options):
        return 77
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda path: compare(options, path), engine.models(options)))
    for name, _, different in found:
        for words in different[:5]:
            print(f"DIFFERENT {name} {words}")
        if len(different) > 5:
            print(f"DIFFERENT {name}: {len(different) - 5} more")
    n, n_different = sum(n for _, n, _ in found), sum(len(different) for _, _, different in found)
    print(f"{len(found)} models, {n} types of tensors: {n - n_different} as llama.cpp's quantizer gives them, {n_different} not")
    return 0 if n and not n_different else 1


if __name__ == "__main__":
    sys.exit(main())

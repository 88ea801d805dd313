#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`plimsoll check` on logs that llama.cpp has just written: what the log says must be what the bill claims.

A model of each kind of memory is loaded in some setups of setups.py, and the engine's output goes to `plimsoll check
MODEL -` as it is. With the context doubled in the bill, the answer must be no.

Exit status: 0 all of it holds, 1 it does not, 77 the engine is not there (skipped).
"""
from __future__ import annotations

import argparse
import subprocess
import sys

import engine
from setups import BIG_CARD_MIB, SETUPS, Setup

MODELS = ["llama-3.1-8b-Q", "qwen3-30b-a3b", "mamba-2.8b", "gemma-3-4b", "deepseek-v2-lite-Q", "jamba"]
CHOSEN = ["server", "slots", "no-fa", "half", "2cards"]


def run_check(options: argparse.Namespace, path: str, setup: Setup, flags: list[str], log: str) -> tuple[int, str]:
    size = f"{BIG_CARD_MIB}MiB"
    machine = ["--ram", size] + ["--budget", size] * setup.cards
    command = [options.plimsoll, "check", path, "-", "--client", "library", *machine, *flags]
    done = subprocess.run(command, input=log, capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip().replace("\n  ", " ").splitlines()[-1]


def failures(options: argparse.Namespace, path: str, setup: Setup) -> list[str]:
    n_layer = engine.run_fit(options, path, ["--budget", "1TiB"])["model"]["n_layer"]
    flags = setup.flags_for(n_layer)
    log, refused = engine.run_engine(options, path, flags, [str(BIG_CARD_MIB)] * setup.cards)
    if refused:
        return [f"the engine refuses: {refused}"]
    status, verdict = run_check(options, path, setup, flags, log)
    found = [] if status == 0 else [f"exit {status}: {verdict}"]
    status, verdict = run_check(options, path, setup, [*flags, "-c", "65536", "-ub", "1024"], log)
    return found + ([] if status == 1 else [f"with another context, exit {status}: {verdict}"])


def main() -> int:
    parser = argparse.ArgumentParser(description="Check bills against logs with `plimsoll check`.")
    engine.add_arguments(parser)
    options = parser.parse_args()
    if not engine.is_there(options):
        return 77
    options.models = options.models or MODELS
    n = n_failed = 0
    for path in engine.models(options):
        for setup in SETUPS:
            if setup.name not in CHOSEN:
                continue
            n += 1
            for words in failures(options, path, setup):
                n_failed += 1
                print(f"FAIL {engine.name_of(path)} {setup.name}: {words}")
    print(f"{n} logs checked, {n_failed} failures")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())

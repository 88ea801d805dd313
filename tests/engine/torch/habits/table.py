#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The table of docs/trace.md: of how many programs the fault is named, and of how many without one nothing is.

    table.py --test build/tests/unit/test_trace_habits
"""
import argparse
import os
import re
import subprocess

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
WORDS = {"kept": "a turn leaves memory", "late": "reference cycles", "copied": "copied into a larger tensor",
         "needs": "each turn needs more", "pieces": "fragmentation", "unfit": "free segments that no request fits",
         "None": "no fault"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--test", required=True)
    run = subprocess.run([parser.parse_args().test], env=dict(os.environ, PLIM_TEST_LOGS=TESTS), capture_output=True, text=True, check=False)
    rows: dict = {word: [0, 0, 0] for word in WORDS}  # programs, those with a right line, wrong lines
    fault, is_named = "", False
    for line in run.stdout.splitlines():
        if head := re.match(r"[\w-]+: (\w+); ", line):
            fault, is_named = head[1], False
            rows[fault][0] += 1
        elif re.match(r"  \w+:", line):
            is_wrong = line.endswith("<-- wrong")
            rows[fault][2] += is_wrong
            rows[fault][1] += not is_wrong and not is_named
            is_named |= not is_wrong
    print("| programs | count | named | wrong lines |\n|---|---|---|---|")
    for word, (n, n_named, n_wrong) in rows.items():
        print(f"| {WORDS[word]} | {n} | {n_named} | {n_wrong} |")


if __name__ == "__main__":
    main()

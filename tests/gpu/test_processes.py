#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
tests/gpu/processes without a card: a virtual one plays the real one. A machine without a card skips.

    test_processes.py --plimsoll PROGRAM
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "processes"
SKIPPED = 77


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    plimsoll = parser.parse_args().plimsoll
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(PROGRAM), "--plimsoll", plimsoll, "--out", folder]
        done = subprocess.run([plimsoll, "rehearse", "-q", "--card", "RTX 4060", "--until", "exit", "--", *command],
                              capture_output=True, text=True, timeout=300, check=False)
        written = [json.loads(path.read_text(encoding="utf-8")) for path in Path(folder).glob("ps-*.json")]
        if done.returncode or len(written) != 1:
            print(f"exit status {done.returncode}, {len(written)} files\n{done.stdout}{done.stderr}")
            return 1
        answers = written[0]["answers"]
        wrong = [what for what, is_right in {
            "a version of 2 is refused, one with the size is not": answers["memory"]["memory, version 2"]["error"] == 25
                                                                    and answers["memory"]["memory, version 0x02000028"]["error"] == 0,
            "the list has entries of 24 bytes": answers["list_stride"] == 24,
            "each process holds more than it asked for": all(row["ps_bytes"] > row["held_mib"] << 20 for row in written[0]["processes"]),
            "free has ended each, and its memory is back": written[0]["free"]["ends"] == ["terminated"] * 3 and written[0]["free"]["back"]
                                                           and written[0]["free"]["returned_bytes"] == written[0]["free"]["returns_bytes"],
            "it is told to be virtual": written[0]["is_virtual"],
        }.items() if not is_right]
        without = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if without.returncode not in (0, SKIPPED) or (without.returncode == SKIPPED and "no card to look at" not in without.stdout):
            wrong.append(f"without a rehearsal: {without.returncode}, {without.stdout}{without.stderr}")
    print("\n".join(wrong) if wrong else "processes are looked at")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

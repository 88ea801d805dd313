#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
tests/gpu/compare without a card: a virtual one plays the real one. Equal cards compare equal, different ones do not, and a
machine without a card skips.

    test_compare.py --plimsoll PROGRAM
"""
import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

COMPARE = Path(__file__).resolve().parent / "compare"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    plimsoll = parser.parse_args().plimsoll
    played = [plimsoll, "rehearse", "--quiet", "--card"]
    failures = []

    def run(real: list[str], *more: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, COMPARE, "--plimsoll", plimsoll, "--python", "false", "--real", shlex.join(real), *more],
                              capture_output=True, text=True, timeout=300)

    def expect(what: str, done: subprocess.CompletedProcess, status: int, text: str) -> None:
        if done.returncode != status or text not in done.stdout:
            failures.append(what)
            print(f"{what}: exit status {done.returncode}, not {status}, or '{text}' is missing\n{done.stdout}{done.stderr}")

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "measured"
        expect("equal", run([*played, "RTX 4060", "--"], "--out", str(out)), 0, "all is equal")
        written = [json.loads(path.read_text(encoding="utf-8")) for path in out.glob("*.json")]
        if len(written) != 1 or written[0]["overhead_bytes"]["context"] <= 0 or not written[0]["is_virtual"]:
            failures.append("the file")
            print(f"the file of what was measured is not right: {written}")
    expect("different", run([*played, "RTX 4060", "--"], "--card", "RTX 3060"), 1, "DIFF the card")
    expect("none", run(["env", "CUDA_VISIBLE_DEVICES=", *played, "RTX 4060", "--"]), 77, "no card to compare with")
    print("failed: " + ", ".join(failures) if failures else "compare compares")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

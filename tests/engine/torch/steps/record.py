# SPDX-License-Identifier: MIT
"""
Record the programs of program.py at the sizes of design.py, and rehearse them at those that are predicted.

    record.py --plimsoll PROGRAM --python PYTHON --data FOLDER [--check] [NAME...]

A recording is FOLDER/NAME.step; the truths are rows of FOLDER/truths.csv, PyTorch's own peaks. What is there already is not done
again, so that the command can be broken off at any time. With --check the truths are taken anew and nothing is written: a
PyTorch that takes other memory fails.
"""
from __future__ import annotations

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

import design
import program

ROOT = pathlib.Path(__file__).resolve().parents[4]
PROGRAM = pathlib.Path(__file__).with_name("program.py").relative_to(ROOT)
COLUMNS = ["name", "B", "S", "allocated_bytes", "reserved_bytes"]
CARD = "B200"


def read_truths(path: str) -> dict[tuple[str, int, int], tuple[int, int]]:
    if not os.path.exists(path):
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["name"], int(row["B"]), int(row["S"])): (int(row["allocated_bytes"]), int(row["reserved_bytes"]))
                for row in csv.DictReader(file)}


def write_truths(path: str, truths: dict) -> None:
    order = list(program.PROGRAMS)
    with open(path + ".part", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([*key, *truths[key]] for key in sorted(truths, key=lambda key: (order.index(key[0]), *key[1:])))
    os.replace(path + ".part", path)


def rehearsal(a: argparse.Namespace, options: list[str], arguments: list[str], card: str = CARD) -> subprocess.CompletedProcess:
    """A bare `is the card there?` goes through NVML: else a process that asks it could not be forked."""
    return subprocess.run([a.plimsoll, "rehearse", "-q", "--card", card, "--until", "exit", *options, "--", a.python, str(PROGRAM), *arguments],
                          cwd=ROOT, env=os.environ | {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}, text=True, capture_output=True, check=False)


def rehearse(a: argparse.Namespace, name: str, points: list[tuple[int, int]]) -> dict:
    """The peaks at these sizes, as PyTorch tells them."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as log:
        sizes = ",".join(f"{b}x{s}" for b, s in points)
        done = rehearsal(a, ["--log", log.name], ["--name", name, "--sizes", sizes])
        rows = [line.split()[1:] for line in log if line.startswith("peaks ")]
    if done.returncode or len(rows) != len(points):
        print(f"{name}: the rehearsal failed: {done.stderr[-300:]}", flush=True)
    return {(name, int(b), int(s)): (int(allocated), int(reserved)) for b, s, allocated, reserved in rows}


def neutral(step: bytes) -> bytes:
    """The same with a folder of nobody's for ours, of the same length; FNV-1a is the check sum at the end."""
    ours = f"{ROOT}/".encode()
    body = step[:-8].replace(ours, b"/home/ann/".ljust(len(ours) - 1, b"-")[:len(ours) - 1] + b"/")
    check = 0xCBF29CE484222325
    for byte in body:
        check = (check ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return body + check.to_bytes(8, "little")


def record(a: argparse.Namespace, name: str, batches: list[int], lengths: list[int], step: pathlib.Path, card: str = CARD) -> bool:
    """S is a variable if there are several lengths."""
    values = {"B": batches} | ({"S": lengths} if len(lengths) > 1 else {})
    vary = [word for variable in values for word in ("--vary", f"{variable}={','.join(map(str, values[variable]))}")]
    done = rehearsal(a, ["--record", str(step), *vary, "--log", str(step) + ".log"],
                     ["--name", name, "--batch", "{B}", "--seq", "{S}" if "S" in values else str(lengths[0])], card)
    if done.returncode or not step.exists():
        print(f"{name}: not recorded: {done.stderr[-600:]}", flush=True)
        return False
    pathlib.Path(str(step) + ".log").unlink(missing_ok=True)
    step.write_bytes(neutral(step.read_bytes()))
    return True


def check(a: argparse.Namespace, name: str, truths: dict) -> bool:
    mine = {key: truth for key, truth in truths.items() if key[0] == name}
    now = rehearse(a, name, [key[1:] for key in mine])
    for key, truth in mine.items():
        if now.get(key) != truth:
            print(f"{name} B={key[1]} S={key[2]}: PyTorch takes {now.get(key)} now, {truth} before", flush=True)
    return now == mine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("plimsoll", "python", "data"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    a = parser.parse_args()
    path = f"{a.data}/truths.csv"
    truths, names = read_truths(path), a.names or list(program.PROGRAMS)
    if not os.path.exists(a.python):
        print(f"{a.python} is missing: tests/engine/programs/fetch.sh trl")
        sys.exit(77)
    if a.check:
        sys.exit(0 if all([check(a, name, truths) for name in names]) else 1)
    is_whole = True
    for name in names:
        sizes = design.drawn(name)
        missing = [point for point in sizes.beyond + sizes.between if (name, *point) not in truths]
        if missing:
            truths |= rehearse(a, name, missing)
            write_truths(path, truths)
        step = pathlib.Path(a.data).absolute() / f"{name}.step"
        is_whole &= all((name, *point) in truths for point in missing)
        is_whole &= step.exists() or record(a, name, sizes.batches + sizes.larger, sizes.lengths, step)
    sys.exit(0 if is_whole else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Bills beside what llama.cpp allocated when it was asked last: the engine itself need not be there.

    recorded.py --plimsoll PROGRAM --models-dir DIR FILE [--mark]

FILE was written by receipts.py --record: a line for each run of the engine with the model, the number of cards, the
flags, and each buffer as it printed it, in MiB, with the number of its parts. Model, KV, RS and output buffers have to
be equal; so have compute buffers but for those marked "~", which have to be in the band of the bill. A line of another
version than the newest begins with it; there "!" marks a compute buffer known to be outside the band, of which there
may be one in twenty. --mark writes the marks anew, after a rule was mended.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from case import Case, activations, wrong_buffers
from setups import BIG_CARD_MIB

MIB = 1 << 20
MOST_OUTSIDE = 0.05
HEAD = """\
# What llama.cpp v0.5.0 allocates on the virtual GPU; tests/engine/recorded.py says how a line is read, and
# `tests/engine/receipts.py --random 3 --seed recorded --record` wrote it.
"""


def write(path: str, cases: list[Case]) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD)
        for case in cases:
            if case.refused:
                continue
            out.write(line_of(case) + "\n")


def line_of(case: Case) -> str:
    """The run, with marks by its bill."""
    is_older = case.version != "v0.5.0"
    marks = {a.device: "" if a.is_equal else "!" if is_older and not a.is_inside else "~" for a in activations(case)}
    buffers = [f"{device} {label}={mib:.2f}{marks.get(device, '') if label == 'compute buffer' else ''}"
               f"*{case.n_printed[device, label]}" for (device, label), mib in sorted(case.engine.items())]
    parts = [*[case.version] * is_older, case.model, str(case.given[0]), " ".join(case.given[1]), ", ".join(buffers)]
    return " | ".join(parts)


def read_line(line: str) -> tuple[Case, set[str]]:
    """The run, and the devices whose compute buffer is known to differ."""
    *version, model, cards, flags, buffers = line.split(" | ")
    case = Case(model, "", flags, flags=flags, given=(int(cards), flags.split()))
    off = set()
    for buffer in buffers.split(", "):
        name, _, figure = buffer.partition("=")
        mib, _, n = figure.partition("*")
        key = tuple(name.split(" ", 1))
        case.engine[key], case.n_printed[key] = float(mib.rstrip("~!")), int(n)
        if mib.endswith("~"):
            off.add(key[0])
        elif mib.endswith("!"):
            case.outside.add(key[0])
    case.version = version[0] if version else "v0.5.0"
    return case, off


def ask(options: argparse.Namespace, case: Case) -> str:
    """Fill in the bill; what went wrong."""
    cards, flags = case.given
    size = f"{BIG_CARD_MIB}MiB"
    command = [options.plimsoll, "fit", "--json", "--engine", f"llama.cpp@{case.version}", "--client", "library",
               "--ram", size, *["--budget", size] * cards,
               *flags, os.path.join(options.models_dir, case.model + ".gguf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return f"exit status {done.returncode}: {done.stderr}"
    for device in json.loads(done.stdout)["devices"]:
        for part in device["lines"]:
            case.bill[device["id"], part["label"]] = (part["bytes"] / MIB, part["low"] / MIB, part["high"] / MIB)
    return ""


def complaints(options: argparse.Namespace, line: str) -> list[str]:
    case, off = read_line(line)
    error = ask(options, case)
    if error:
        return [error]
    found = wrong_buffers(case)
    for a in activations(case):
        if a.device in case.outside:
            continue
        if not (a.is_inside if a.device in off else a.is_equal):
            found.append(f"{a.device} compute buffer: engine {a.truth:.2f}, bill {a.bytes:.2f} MiB")
    return [f"{case.version} {case.model} ({case.given[0]} cards) {case.flags}: {what}" for what in found]


def marked(options: argparse.Namespace, line: str) -> str:
    if line.startswith("#"):
        return line
    case, _ = read_line(line)
    error = ask(options, case)
    if error:
        raise SystemExit(error)
    return line_of(case)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare bills with what llama.cpp allocated once.")
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--models-dir", required=True)
    parser.add_argument("--mark", action="store_true", help="write the marks of compute buffers anew")
    parser.add_argument("file")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        if options.mark:
            lines = list(pool.map(lambda line: marked(options, line), lines))
            with open(options.file, "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
        lines = [line for line in lines if not line.startswith("#")]
        found = [complaint for part in pool.map(lambda line: complaints(options, line), lines) for complaint in part]
    n_outside, n_compute = (sum(line.count(part) for line in lines) for part in ("!", " compute buffer="))
    if n_outside > MOST_OUTSIDE * n_compute:
        found.append(f"{n_outside} of {n_compute} compute buffers are outside their band")
    print("".join(complaint + "\n" for complaint in found) + f"{len(lines)} runs of the engine, {len(found)} figures differ")
    return 1 if found or not lines else 0


if __name__ == "__main__":
    sys.exit(main())

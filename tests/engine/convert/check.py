#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Lay the GGUF that Plimsoll says a config becomes beside the one that llama.cpp's converter and quantizer made of it, as
recorded in tests/data/converted: every tensor with its dimensions and type, every key, every type of five recipes.

    check.py --list PROGRAM [-v] [--page FILE] [FILE...]

A forecast that calls itself exact is equal; one that calls itself a formula may differ in the tensor it doubts. A config
whose architecture has no rules is one that tests/data/converted/without-rules.txt names.
Exit status: 0 all as recorded, 1 some are not.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import forecasts
import truth

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.path.dirname(os.path.dirname(HERE)), "data", "converted")
WITHOUT_RULES = "without-rules.txt"


@dataclass
class Forecast:
    is_exact: bool = False
    doubts: list[str] = field(default_factory=list)  # names of tensors
    keys: dict[str, str] = field(default_factory=dict)
    tensors: dict[str, tuple] = field(default_factory=dict)  # name -> type, ne; in order


@dataclass
class Outcome:
    name: str
    has_rules: bool = True
    is_exact: bool = False
    architecture: str = ""
    n: int = 0  # facts compared
    wrong: list[str] = field(default_factory=list)
    reason: str = ""


def parse(text: str) -> Forecast:
    found = Forecast()
    for line in text.splitlines():
        word, *rest = line.split("\t")
        if word == "forecast":
            found.is_exact = rest[0] == "exact"
        elif word == "doubt":
            found.doubts.append(rest[1])
        elif word == "key":
            found.keys[rest[0]] = rest[1]
        elif word == "tensor":
            found.tensors[rest[0]] = (rest[1].lower(), tuple(map(int, rest[2:])))
    return found


def forecast(program: str, recorded: truth.Truth, folder: str, recipe: str = "") -> Forecast | str:
    """The forecast, or why there is none."""
    path = os.path.join(folder, "config.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(recorded.config, file)
    command = [program, *recorded.options, path, *([recipe] if recipe else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    return done.stderr.strip() if done.returncode else parse(done.stdout)


def same_value(theirs: object, ours: str) -> bool:
    if isinstance(theirs, bool):
        return ours == ("true" if theirs else "false")
    if isinstance(theirs, str):
        return ours == theirs
    if isinstance(theirs, float):
        return struct.pack("<f", theirs) == struct.pack("<f", float(ours))
    if isinstance(theirs, list):
        try:
            mine = json.loads(ours)
        except ValueError:  # values that the program does not keep: their number
            return ours == f"[{len(theirs)} values]"
        return len(mine) == len(theirs) and all(float(a) == float(b) for a, b in zip(theirs, mine))
    return ours == str(theirs)


def compare_keys(recorded: truth.Truth, ours: Forecast, outcome: Outcome) -> None:
    for name, key in recorded.keys.items():
        outcome.n += 1
        if name not in ours.keys:
            outcome.wrong.append(f"key {name} = {json.dumps(key.value)[:80]}: ours has none")
        elif not same_value(key.value, ours.keys[name]):
            outcome.wrong.append(f"key {name}: converter {json.dumps(key.value)[:80]}, ours {ours.keys[name][:80]}")
    for name in ours.keys:
        if name not in recorded.keys and not truth.IGNORED.match(name):
            outcome.wrong.append(f"key {name} = {ours.keys[name][:80]}: the converter writes none")


def quantizer_order(name: str) -> tuple[int, str]:
    """Where llama.cpp's loader and quantizer put a tensor: by its block, by its name."""
    match = re.match(r"blk\.(\d+)\.", name)
    return (int(match[1]) if match else -1, name)


def compare_tensors(theirs: dict[str, tuple], ours: Forecast, what: str, outcome: Outcome) -> None:
    outcome.n += len(theirs)
    excused = set() if ours.is_exact else set(ours.doubts)
    for name, tensor in theirs.items():
        mine = ours.tensors.get(name)
        if mine != tensor and not (mine is None and name in excused):
            outcome.wrong.append(f"{what}{name}: llama.cpp {tensor}, ours {mine}")
    for name, mine in ours.tensors.items():
        if name not in theirs and name not in excused:
            outcome.wrong.append(f"{what}{name}: llama.cpp has none, ours {mine}")


def recorded_names(prefixes: list[str]) -> list[str]:
    names = sorted(name.removesuffix(".txt") for name in os.listdir(RECORDED) if name.endswith(".txt"))
    return [name for name in names if name != WITHOUT_RULES.removesuffix(".txt")
            and (not prefixes or any(name.startswith(prefix) for prefix in prefixes))]


def without_rules() -> set[str]:
    """The configs whose architecture has no rules."""
    with open(os.path.join(RECORDED, WITHOUT_RULES), encoding="utf-8") as file:
        return {line.split()[0] for line in file if line.strip() and not line.startswith("#")}


def check(program: str, path: str) -> Outcome:
    with open(path, encoding="utf-8") as file:
        recorded = truth.load(file.read())
    outcome = Outcome(os.path.basename(path).removesuffix(".txt"))
    outcome.architecture = str(recorded.keys["general.architecture"].value)
    with tempfile.TemporaryDirectory() as folder:
        ours = forecast(program, recorded, folder)
        if isinstance(ours, str):
            outcome.has_rules, outcome.reason = False, ours
            return outcome
        outcome.is_exact = ours.is_exact
        shapes = {tensor.name: (tensor.type, tensor.ne) for tensor in recorded.tensors}
        compare_tensors(shapes, ours, "", outcome)
        order = list(ours.tensors)
        if not recorded.options and order != sorted(order, key=quantizer_order):
            outcome.wrong.append("the tensors are not in the quantizer's order")
        compare_keys(recorded, ours, outcome)
        for recipe, types in recorded.types.items():
            ours = forecast(program, recorded, folder, recipe)
            if isinstance(ours, str):
                outcome.wrong.append(f"{recipe}: {ours}")
                continue
            theirs = {name: (types[name].lower(), ne) for name, (_, ne) in shapes.items()}
            compare_tensors(theirs, ours, recipe + " ", outcome)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare forecasts of GGUF files with llama.cpp's converter.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="names of recorded configs (default: all)")
    parser.add_argument("--list", required=True, help="convert_list")
    parser.add_argument("-v", "--verbose", action="store_true", help="every difference")
    parser.add_argument("--page", metavar="FILE", help="write the row of docs/accuracy.md there")
    options = parser.parse_args()
    known = without_rules()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda name: check(options.list, os.path.join(RECORDED, name + ".txt")), recorded_names(options.files)))
    n_bad = 0
    for outcome in outcomes:
        if outcome.has_rules and outcome.name in known:
            print(f"{WITHOUT_RULES} still names {outcome.name}: it has rules, and is compared")
        if not outcome.has_rules and outcome.name not in known:
            n_bad += 1
            print(f"{WITHOUT_RULES} lacks {outcome.name} {outcome.reason}")
        if outcome.wrong:
            n_bad += 1
            shown = outcome.wrong if options.verbose else outcome.wrong[:3]
            print("\n".join(f"DIFFERENT {outcome.name} {words}" for words in shown))
            if len(outcome.wrong) > len(shown):
                print(f"DIFFERENT {outcome.name}: {len(outcome.wrong) - len(shown)} more")
    ruled = [outcome for outcome in outcomes if outcome.has_rules]
    print(f"{len(outcomes)} recorded configs, {len(ruled)} with rules, {sum(o.is_exact for o in ruled)} called exact: "
          f"{sum(o.n for o in ruled)} facts, {sum(len(o.wrong) for o in ruled)} of them wrong")
    if options.page:
        n_wrong = sum(len(outcome.wrong) for outcome in ruled)
        n_architectures = len({outcome.architecture for outcome in ruled} - {"clip", ""})
        forecasts.write_row(options.page, forecasts.CONVERTED,
                            f"{len(ruled)} configs, {n_architectures} architectures, 5 recipes",
                            sum(outcome.n for outcome in ruled) - n_wrong, n_wrong, f"{len(outcomes) - len(ruled)} configs")
    return 1 if n_bad or not ruled else 0


if __name__ == "__main__":
    sys.exit(main())

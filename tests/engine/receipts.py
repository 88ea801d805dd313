#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Lay Plimsoll's bills beside what llama.cpp itself allocates.

The engine is the stock CUDA build of llama.cpp, unmodified; it runs here without a GPU on the virtual
one of src/vgpu/. Every model of the zoo is loaded in every setup of setups.py, and each buffer the engine prints is
compared with the line of the same name in `plimsoll fit --json`:

    model, KV, RS and output buffers    equal to the engine's own 0.01 MiB, or the test fails
    compute buffers                     shown with their error; the band must contain the truth in 95 % of all cases,
                                        with a median width of at most 10 % and none over 40 %

    receipts.py --plimsoll PROGRAM --probe PROGRAM --vgpu DIR --engine DIR
                --models-dir DIR [MODEL...] [--setups A,B | --random N --seed S] [-v] [--record FILE]

--record also writes what the engine allocated into a file that tests/cli/recorded.py holds bills against without it.

Exit status: 0 all of it holds, 1 it does not, 77 the engine is not there (skipped).
"""
from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import accuracy
import engine
import recorded
from case import Activation, Case, activations, wrong_buffers
from setups import BIG_CARD_MIB, BORDERS, SETUPS, Setup, random_setups

MIB = 1 << 20
MOST_REFUSED = 0.15  # what the engine refuses compares nothing; of setups by chance it refuses a tenth
BUFFER = re.compile(r"^[\w~]+:\s+(\S+)\s+(model|KV|RS|compute|output) buffer size =\s*([\d.]+) MiB")


def device_of(buffer: str) -> str:
    """The bill's name for the device behind one of llama.cpp's buffer types."""
    match = re.match(r"CUDA(\d+)", buffer)
    return f"gpu{match.group(1)}" if match else "host"


def read_engine(options: argparse.Namespace, path: str, setup: Setup, n_layer: int, case: Case) -> None:
    said, case.refused = engine.run_engine(options, path, setup.flags_for(n_layer), [str(BIG_CARD_MIB)] * setup.cards)
    found: dict = defaultdict(float)
    printed: dict = defaultdict(int)
    for line in said.splitlines():
        match = BUFFER.match(line)
        if match:
            key = device_of(match.group(1)), match.group(2) + " buffer"
            found[key] += float(match.group(3))
            printed[key] += 1
    case.engine, case.n_printed = dict(found), dict(printed)


def read_bill(options: argparse.Namespace, path: str, setup: Setup, n_layer: int, case: Case) -> None:
    size = f"{BIG_CARD_MIB}MiB"
    machine = ["--ram", size] + ["--budget", size] * setup.cards
    answer = engine.run_fit(options, path, ["--client", "library", *machine, *setup.flags_for(n_layer)])
    for device in answer["devices"]:
        for line in device["lines"]:
            case.bill[device["id"], line["label"]] = (line["bytes"] / MIB, line["low"] / MIB, line["high"] / MIB)


def measure(options: argparse.Namespace, path: str) -> list[Case]:
    model = engine.run_fit(options, path, ["--budget", "1TiB"])["model"]
    name = engine.name_of(path)
    cases = []
    by_chance = [replace(setup, flags=f"{options.flags} {setup.flags}".strip())
                 for setup in random_setups(f"{options.seed}/{name}", options.random or 0)]
    for setup in by_chance + BORDERS.get(name, []) if options.random else SETUPS:
        if options.setups and setup.name not in options.setups:
            continue
        case = Case(name, model["arch"], setup.name, flags=f"{setup.flags} ({setup.cards} cards)",
                    given=(setup.cards, setup.flags_for(model["n_layer"])), version=engine.version(options))
        read_engine(options, path, setup, model["n_layer"], case)
        read_bill(options, path, setup, model["n_layer"], case)
        cases.append(case)
    return cases


def print_table(cases: list[Case], verbose: bool) -> bool:
    """One row per model; returns whether everything holds."""
    by_model: dict = defaultdict(list)
    for case in cases:
        by_model[case.model].append(case)
    print(f"{'model':38} {'architecture':16} {'setups':>6} {'exact':>6}   compute buffers: worst error, in band")
    exact_cases = compared = 0
    every: list[Activation] = []
    for model, rows in sorted(by_model.items()):
        ran = [case for case in rows if not case.refused]
        wrong = {case.setup: wrong_buffers(case) for case in ran}
        good = sum(not words for words in wrong.values())
        found = [a for case in ran for a in activations(case)]
        worst = max(found, key=lambda a: abs(a.error), default=None)
        inside = sum(a.is_inside for a in found)
        exact_cases += good
        compared += len(ran)
        every += found
        print(f"{model:38} {rows[0].arch:16} {len(ran):6} {good:6}   "
              + (f"{100 * worst.error:+8.3f} % {inside:4} of {len(found)}" if worst else "none"))
        for setup, words in wrong.items():
            for word in words:
                print(f"    WRONG {setup}: {word}")
        for a in found:
            if not a.is_inside or (verbose and not a.is_equal):
                print(f"    {'OUTSIDE' if not a.is_inside else 'off'} {a.case.setup}: {a.device} compute buffer: "
                      f"engine {a.truth:.2f}, bill {a.bytes:.2f} ({a.low:.2f} to {a.high:.2f}) MiB")
        for case in ran:
            shown = [a for a in activations(case) if not (a.is_equal if verbose else a.is_inside)]
            if case.setup.startswith("random") and (wrong[case.setup] or shown):
                print(f"    {case.setup} is {case.flags}")
        for case in rows:
            if case.refused and verbose:
                print(f"    refused {case.setup}: {case.refused[:100]}")
    return print_summary(cases, every, exact_cases, compared)


def print_summary(cases: list[Case], every: list[Activation], exact_cases: int, compared: int) -> bool:
    refused = [case for case in cases if case.refused]
    archs = {case.arch for case in cases if not case.refused}
    inside = sum(a.is_inside for a in every) / max(len(every), 1)
    equal = sum(a.is_equal for a in every)
    widths = [a.width for a in every] or [0.0]
    errors = sorted(abs(a.error) for a in every) or [0.0]
    print(f"\n{len(archs)} architectures, {len({c.model for c in cases})} models, {compared} runs of the engine "
          f"({len(refused)} more that it refused)")
    print(f"model, KV, RS and output buffers equal to 0.01 MiB: {exact_cases} of {compared} runs")
    print(f"compute buffers: {equal} of {len(every)} equal to 0.01 MiB; error median "
          f"{100 * statistics.median(errors):.3f} %, 99th percentile {100 * errors[int(len(errors) * 0.99) - 1]:.3f} %, "
          f"worst {100 * errors[-1]:.3f} %")
    print(f"their bands: {100 * inside:.2f} % contain the truth; width median "
          f"{100 * statistics.median(widths):.2f} %, widest {100 * max(widths):.2f} %")
    return exact_cases == compared and inside >= 0.95 and statistics.median(widths) <= 0.10 and max(widths) <= 0.40


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare bills with what llama.cpp allocates.")
    engine.add_arguments(parser)
    parser.add_argument("--setups", type=lambda text: text.split(","), help="only these setups")
    parser.add_argument("--random", type=int, metavar="N", help="N setups by chance for each model instead")
    parser.add_argument("--flags", default="", help="before those of each setup by chance")
    parser.add_argument("--seed", default="1", help="of --random (default: 1)")
    parser.add_argument("--page", metavar="FILE", help="write the table of results into this file")
    parser.add_argument("--json", metavar="FILE", help="also write every figure there")
    parser.add_argument("--record", metavar="FILE", help="also write there what the engine allocated")
    options = parser.parse_args()
    if not engine.is_there(options):
        return 77
    with ThreadPoolExecutor(options.jobs) as pool:
        cases = [case for part in pool.map(lambda path: measure(options, path), engine.models(options)) for case in part]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump([{"model": c.model, "arch": c.arch, "setup": c.setup, "refused": c.refused,
                        "engine_mib": {" ".join(k): v for k, v in c.engine.items()},
                        "bill_mib": {" ".join(k): v[0] for k, v in c.bill.items()}} for c in cases], out, indent=1)
    if options.record:
        recorded.write(options.record, cases)
    if options.page:
        accuracy.write(options.page, cases)
    holds = print_table(cases, options.verbose)
    if not options.models and sum(bool(case.refused) for case in cases) > MOST_REFUSED * len(cases):
        print(f"the engine refused too much: more than {100 * MOST_REFUSED:.0f} % of the setups")
        holds = False
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())

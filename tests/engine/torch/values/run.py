#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Expressions on the virtual GPU and on PyTorch's CPU, in one rehearsed program: what differs has to be marked as a guess.

    run.py --plimsoll build/src/plimsoll --python .cache/torch/bin/python [--only REGEX] [--seed N]

Prints a table by family, then every wrong and every raised expression on a line. Outcomes:
    equal     as on the CPU, and the virtual GPU knows it
    guess     the virtual GPU says that it does not know the value; "right" are those that are equal all the same
    WRONG     differs, and is not marked as a guess
    raised    the CPU gave a result, the virtual GPU an exception
Not counted: what PyTorch's CPU, or PyTorch on a card, refuses. --only takes a regular expression that is searched in
the line of an expression, "family: text   inputs": '^sorting' is a family, 'x.topk' an operation, 'bfloat16' a dtype.
PLIM_VGPU_VALUES and other environment goes through to the rehearsal.
Exit status: 1 when something is wrong, or less than --least percent are equal; 77 without PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass

import catalogue

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
import page  # noqa: E402

OUTCOMES = ("equal", "guess", "wrong", "raised")
TIMEOUT_S = 1200
MOST_ENDS = 30  # expressions that may end the process, before the rest is given up


@dataclass
class Result:
    case: catalogue.Case
    outcome: str = "not run"
    why: str = ""
    is_right: bool = False
    seconds: float = 0.0
    kernels: tuple[str, ...] = ()


def rehearse(options: argparse.Namespace, folder: str, first: int) -> str:
    """One process, from an expression on; what it printed."""
    command = [
        options.plimsoll,
        "rehearse",
        "--card",
        "RTX 4090",
        "--until",
        "exit",
        "--timeout",
        str(TIMEOUT_S),
        "--receipt",
        os.path.join(folder, "receipt.json"),
        "--log",
        os.path.join(folder, "log"),
        "--",
        options.python,
        os.path.join(HERE, "program.py"),
        "--out",
        folder,
        "--seed",
        str(options.seed),
        "--only",
        options.only,
        "--first",
        str(first),
        *(["--apart"] if options.apart or options.kernels else []),
    ]
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    said = done.stderr
    if os.path.exists(os.path.join(folder, "log")):
        with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as file:
            said = file.read()
    return said.strip()[-1500:]


def run(options: argparse.Namespace, cases: list[catalogue.Case], folder: str) -> tuple[list[Result], dict]:
    """The results, in order, and what the program said of itself. An expression that ends the process raises."""
    results, about, first = [Result(case) for case in cases], {}, 0
    path = os.path.join(folder, "results")
    for _ in range(MOST_ENDS):
        said = rehearse(options, folder, first)
        begun = first - 1
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
        for line in lines:
            begun = line.get("begins", begun)
            if "case" in line:
                read_result(results[line["case"]], line)
            if "torch" in line:
                return results, line
        if begun < first:
            raise SystemExit(f"the program did not begin:\n{said}")
        results[begun].outcome, results[begun].why = "raised", f"the process ended: {' '.join(said.split())[-200:]}"
        first = begun + 1
    return results, about


def read_result(result: Result, line: dict) -> None:
    result.outcome = line.get("outcome", "")
    result.why, result.is_right = line.get("why", ""), line.get("is_right", False)
    result.seconds, result.kernels = line["s"], tuple(line.get("kernels", ()))


def print_table(results: list[Result]) -> None:
    families: dict[str, Counter] = {}
    for result in results:
        for family in (result.case.family, "all"):
            counts = families.setdefault(family, Counter())
            counts[result.outcome] += 1
            counts["right"] += result.outcome == "guess" and result.is_right
    families["all"] = families.pop("all")
    print(f"{'family':<24} {'n':>5} {'equal':>6} {'guess':>6} {'(right)':>8} {'WRONG':>6} {'raised':>7}  equal %")
    for family, counts in families.items():
        n = sum(counts[outcome] for outcome in OUTCOMES)
        numbers = [n, *(counts[what] for what in ("equal", "guess", "right", "wrong", "raised"))]
        columns = "".join(f"{number:>{width}}" for number, width in zip(numbers, (6, 7, 7, 9, 7, 8)))
        print(f"{family:<24}{columns}  {100 * counts['equal'] / max(n, 1):6.1f}")
    if families["all"]["not run"]:
        print(f"not run: {families['all']['not run']}, the process ended {MOST_ENDS} times")
    print(f"not counted: {families['all']['no truth']}, refused by PyTorch")


def print_lines(results: list[Result], outcome: str, most: int) -> None:
    found = [result for result in results if result.outcome == outcome]
    for result in found[:most]:
        print(f"{outcome.upper() if outcome == 'wrong' else outcome}  {str(result.case)!r}  {result.why}")
    if len(found) > most:
        print(f"... and {len(found) - most} more that are {outcome}; --most shows them")


def write_json(path: str, results: list[Result], about: dict) -> None:
    rows = [
        {
            "case": str(result.case),
            "family": result.case.family,
            "outcome": result.outcome,
            "why": result.why,
            "seconds": result.seconds,
        }
        for result in results
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**about, "results": rows}, file, indent=1)
        file.write("\n")


def write_kernels(path: str, results: list[Result]) -> None:
    """The kernels of each expression, indented under it."""
    with open(path, "w", encoding="utf-8") as file:
        for result in results:
            launched = "".join(f"    {kernel}\n" for kernel in result.kernels)
            file.write(f"{result.outcome} {str(result.case)!r}\n{launched}")


def write_page(path: str, torch: str, seed: int, results: list[Result]) -> None:
    counts = Counter(result.outcome for result in results)
    n = sum(counts[outcome] for outcome in OUTCOMES)
    head = [
        "Expressions are drawn with a seed over operations, types, shapes and layouts, and read in the sources of libraries. Each is evaluated on",
        "the virtual GPU and on PyTorch's CPU, in one program. A result is *equal*, to the tolerance of its type, or marked as a *guess*; a",
        "*wrong* one is neither, and fails the test.",
        "`tests/engine/torch/values/run.py --page docs/accuracy.md` writes the row of its version and seed.",
        "",
        "| PyTorch, seed | expressions | equal | guess | wrong | equal, % |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    cells = [f"{n}", *(f"{counts[outcome]}" for outcome in ("equal", "guess", "wrong")), f"{100 * counts['equal'] / max(n, 1):.1f}"]
    order = [f"{version}, {number}" for version in ("2.15.0+cu132", "2.10.0+cu128", "2.5.1+cu124") for number in range(10)]
    page.update(path, "values", head, {f"{torch}, {seed}": cells}, order)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True, help="of the virtual environment (tests/engine/fetch_torch.sh)")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--seed", type=int, default=0, help="draws other dtypes, shapes, layouts and values")
    parser.add_argument(
        "--least", type=float, default=97.0, metavar="PERCENT", help="equal; default 97. 0: report only, always exit 0"
    )
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--page", metavar="FILE", help="write the row of this version and seed there")
    parser.add_argument("--apart", action="store_true", help="each expression in its own process, on memory never used")
    parser.add_argument("--kernels", metavar="FILE", help="write what each expression launches; takes --apart along")
    parser.add_argument("--guesses", action="store_true", help="print those too")
    parser.add_argument("--most", type=int, default=200, help="lines of each outcome")
    return parser.parse_args()


def main() -> int:
    options = parse()
    if not os.path.exists(options.python):
        print(f"skipped: no PyTorch in {options.python}; tests/engine/fetch_torch.sh brings it")
        return 77
    cases = catalogue.cases(options.seed, options.only)
    with tempfile.TemporaryDirectory() as folder:
        results, about = run(options, cases, folder)
    if options.kernels:
        write_kernels(options.kernels, results)
    if options.json:
        write_json(options.json, results, about)
    if options.page:
        write_page(options.page, about["torch"], options.seed, results)
    marked = "" if about.get("can_say") else "NOT "
    print(f"PyTorch {about.get('torch')}, seed {options.seed}; guesses are {marked}marked by this virtual GPU")
    print_table(results)
    for outcome in ("wrong", "raised", *(["guess"] if options.guesses else [])):
        print_lines(results, outcome, options.most)
    counts = Counter(result.outcome for result in results)
    n = sum(counts[outcome] for outcome in OUTCOMES)
    is_enough = 100 * counts["equal"] >= options.least * n and n > 0
    return 0 if options.least == 0 or (is_enough and not counts["wrong"] and not counts["not run"]) else 1


if __name__ == "__main__":
    sys.exit(main())

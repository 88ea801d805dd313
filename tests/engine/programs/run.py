#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Programs as users write them with the libraries of the field, unmodified, rehearsed. Each must come to its end, its
ledger must equal what PyTorch says that it has reserved, and the receipt must say of its path what the manifest says.

    run.py --plimsoll P --python VENV/bin/python (--group GROUP | --quick) [PROGRAM...]

--resume FILE: programs that FILE lists have passed before; those that pass are added. Default: $PLIM_RESUME.

manifest.json has an entry for each program:
    group     the packages it needs: pins/GROUP.txt; fetch.sh brings them
    card      default: RTX 4090
    run       torchrun: one process per card; notebook: PROGRAM.ipynb is executed; default: one process
    host_gib  so much memory of the host is enough: it runs in a control group of this size, where one can be made
    path      the verdict of the receipt: exact, guessed_harmless, guessed, incomplete
    last      a pattern that the line of its end must match; default: ^completed in
    gate      the exit status with --gate; default: 1 where the path is guessed, else 0
    quick     it takes seconds, and needs no more than PyTorch: a part of `make test-all`
    guesses   each place of the receipt where a guess decides matches one of these patterns, each of which has a reason
    says      patterns that its output must match: that it took the way it would take on a card
    environment   NAME: VALUE
    as_on_a_card  functions of a library that chooses by the type of the device, for the run on the CPU beside which
                  operators.py puts the rehearsal: "true": it answers true; "kernel": it stands for a kernel of the card;
                  "lists": this optimizer takes lists of tensors, as it does on a card
"""
from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "torch"), os.path.join(HERE, "..")]
import host  # noqa: E402
import page  # noqa: E402
import suite  # noqa: E402  (how a ledger is compared with what PyTorch tells)

TIMEOUT_S = 600


@dataclass
class Program:
    name: str
    group: str
    path: str
    card: str = "RTX 4090"
    run: str = ""
    host_gib: float = 0
    guesses: dict[str, str] = field(default_factory=dict)
    says: list[str] = field(default_factory=list)
    last: str = "^completed in"
    gate: int = -1
    quick: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    as_on_a_card: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return self.gate if self.gate >= 0 else int(self.path == "guessed")

    @property
    def file(self) -> str:
        return os.path.join(HERE, self.name + (".ipynb" if self.run == "notebook" else ".py"))


def read_manifest() -> dict[str, Program]:
    with open(os.path.join(HERE, "manifest.json"), encoding="utf-8") as file:
        return {name: Program(name, **entry) for name, entry in json.load(file).items()}


def command_of(python: str, program: Program) -> list[str]:
    if program.run == "notebook":
        return [python, "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", program.file]
    if program.run != "torchrun":
        return [python, program.file]
    n_cards = int(program.card.split("x ")[0]) if "x " in program.card else 1
    return [python, "-m", "torch.distributed.run", "--nproc_per_node", str(n_cards), program.file]


def environment_of(program: Program, work: str) -> dict[str, str]:
    """`work` is a folder that is its own."""
    paths = [os.path.join(HERE, "hook"), HERE, os.environ.get("PYTHONPATH", "")]
    return dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="2",
                PLIM_TEST_TELL=os.path.join(work, "told"), TMPDIR=work, PYTHONPATH=os.pathsep.join(filter(None, paths)), **program.environment)


def check_path(receipt: dict, program: Program) -> list[str]:
    path = receipt["path"]
    wrong = [] if path["verdict"] == program.path else [f"path: {path['verdict']}, not {program.path}"]
    for place in path["places"]:
        words = f"{place['inside'] or place['where']}: {place['what']}, {place['decided']}"
        if place["matters"] and not any(re.search(guess, words) for guess in program.guesses):
            wrong.append(f"nobody explains the guess in {words}: {place['text']}")
    return wrong + ([f"{path['more_places']} more places than the receipt lists"] if path["more_places"] else [])


def check_host(receipt: dict, program: Program) -> list[str]:
    """What is the program's own; pages of its files are given back when memory is short."""
    held = receipt["host"]["peak_anonymous_bytes"] / 2**30
    return [f"it held {held:.1f} GiB of the host"] if program.host_gib and held > program.host_gib else []


def text_of(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def rehearse(options: argparse.Namespace, program: Program, folder: str) -> tuple[int, str, dict]:
    """Its exit status, what it said, its receipt ({}: none)."""
    receipt_path, log_path = (os.path.join(folder, program.name + ending) for ending in (".json", ".log"))
    command = [options.plimsoll, "rehearse", "--card", program.card, "--until", "exit", "--gate", "--timeout", str(TIMEOUT_S), "--receipt",
               receipt_path, "--log", log_path, "--", *command_of(options.python, program)]
    with tempfile.TemporaryDirectory() as work, host.of_gib(program.host_gib) as limit:  # some leave caches where they are run
        done = subprocess.run([*limit, *command], env=environment_of(program, work), cwd=work, capture_output=True, text=True, errors="replace")
        said = text_of(log_path) + text_of(os.path.join(work, "told"))
    if not os.path.exists(receipt_path):
        return done.returncode, said + done.stderr, {}
    with open(receipt_path, encoding="utf-8") as file:
        return done.returncode, said, json.load(file)


def check(options: argparse.Namespace, program: Program, folder: str) -> tuple[list[str], dict]:
    """What is wrong, and the receipt."""
    status, said, receipt = rehearse(options, program, folder)
    if not receipt:
        return [f"no receipt: {said[-500:]}"], {}
    if status != program.status or not re.search(program.last, receipt["end_line"]):
        return [f"exit {status}, not {program.status}: {receipt['end_line']}: {said.strip()[-1500:]}"], receipt
    wrong = suite.check_memory(receipt, said) + check_path(receipt, program) + check_host(receipt, program)
    wrong += [f"it does not say '{pattern}'" for pattern in program.says if not re.search(pattern, said)]
    return wrong, receipt


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all of the group")
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True, help="of the virtual environment (fetch.sh)")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--group")
    which.add_argument("--quick", action="store_true", help="the quick ones of all groups")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Paths are absolute, for programs run in folders of their own. Without the packages: the test is skipped."""
    options = parser.parse_args()
    options.plimsoll, options.python = (os.path.abspath(path) for path in (options.plimsoll, options.python))
    if not os.path.exists(options.python):
        print(f"skipped: no {options.python}; tests/engine/programs/fetch.sh brings it")
        sys.exit(77)
    return options


def passed_before(options: argparse.Namespace) -> set[str]:
    if not options.resume or not os.path.exists(options.resume):
        return set()
    with open(options.resume, encoding="utf-8") as file:
        return set(file.read().split())


def chosen(options: argparse.Namespace) -> list[Program]:
    manifest = read_manifest()
    names = options.programs or [name for name, program in manifest.items()
                                 if (program.quick if options.quick else program.group == options.group)]
    return [manifest[name] for name in names]


def title_of(program: Program) -> str:
    """The first line of its documentation; of a notebook, its heading."""
    if program.run == "notebook":
        return "".join(json.loads(text_of(program.file))["cells"][0]["source"]).lstrip("# ")
    return next(line for line in text_of(program.file).splitlines() if line.startswith('"""')).strip('"').rstrip(".")


def row_of(program: Program, receipt: dict) -> list[str]:
    path = receipt["path"]
    what = title_of(program)
    words = {"exact": "exact", "guessed_harmless": "guessed, does not matter",
             "incomplete": "it fails, as it would on a card"}
    n = sum(place["matters"] for place in path["places"])
    verdict = words.get(path["verdict"], f"{path['verdict']}, {n} {'place' if n == 1 else 'places'} explained")
    has_operators = os.path.exists(os.path.join(HERE, "..", "..", "data", "operators", program.name + ".gz"))
    peak = sum(card["peak_bytes"] for card in receipt["devices"])
    return [what.replace("|", "/"), verdict, "equal" if has_operators else "", f"{peak / 2**20:,.0f} MiB"]


def write_page(path: str, rows: dict[str, list[str]]) -> None:
    """Rows of programs that passed."""
    head = [
        "Each came to its end, took the path that its output shows, and has the ledger that equals what PyTorch says it has reserved, to the",
        "byte. *Path* is the receipt's verdict; for each place that is a guess `manifest.json` has the reason. *Operators*: the sequence of",
        "dispatched operators, with the types and shapes of their outputs, is that of PyTorch's CPU from start to end (`operators.py`).",
        "`tests/engine/programs/run.py --page docs/accuracy.md` writes the rows of its group.",
        "",
        "| program |  | path | operators | peak |",
        "| --- | --- | --- | --- | ---: |",
    ]
    page.update(path, "programs", head, {f"`{name}`": cells for name, cells in rows.items()}, [f"`{name}`" for name in read_manifest()])


def main() -> int:
    parser = arguments()
    parser.add_argument("--page", metavar="FILE", help="write the rows of these programs there")
    parser.add_argument("--resume", metavar="FILE", default=os.environ.get("PLIM_RESUME"))
    parser.add_argument("--keep", metavar="DIR", help="leave receipts and logs there")
    options, n_wrong, rows = parse(parser), 0, {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(options.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        passed = passed_before(options)
        for program in (program for program in chosen(options) if program.name not in passed):
            started = time.monotonic()
            wrong, receipt = check(options, program, folder)
            peak = sum(card["peak_bytes"] for card in receipt.get("devices", []))
            verdict = receipt.get("path", {}).get("verdict", "-")
            print(f"{'FAIL' if wrong else 'ok  '}  {program.name:<24} {time.monotonic() - started:5.1f} s  peak {peak / 2**30:7.3f} GiB  "
                  f"path {verdict}", flush=True)
            for line in wrong:
                print("      " + line.replace("\n", "\n      "), flush=True)
            n_wrong += bool(wrong)
            if not wrong and options.resume:
                with open(options.resume, "a", encoding="utf-8") as file:
                    file.write(program.name + "\n")
            if not wrong:
                rows[program.name] = row_of(program, receipt)
    if options.page:
        write_page(options.page, rows)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

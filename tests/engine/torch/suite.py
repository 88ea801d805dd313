#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Unmodified PyTorch on the virtual GPU, a program at a time. The ledger of each rehearsal must equal, to the byte, what
PyTorch says that it has reserved; what is beside it is overhead with a name.

    suite.py --plimsoll P --python VENV/bin/python [CASE...]

The cases are the programs in cases/. Comments at the top of a case say how it is run:
    # card: 2x RTX 3090             default: RTX 4090
    # run: torchrun                 one process per card; default: one process
    # needs: transformers           modules without which it is skipped
    # environment: NAME=VALUE
    # options: --schedule lazy      of plimsoll rehearse
    # out of memory                 it is meant to; it checks the message itself
    # out of memory: gpu1           and where
    # at most: 60 s, 4 GiB          of time and of resident memory
    # pytorch: exact                the basis of PyTorch's own peaks in the receipt
"""
from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import table

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
HELPERS = ("hollow", "told")
TIMEOUT_S = 300
GIB = 1 << 30


@dataclass
class Case:
    name: str
    path: str
    says: dict[str, str] = field(default_factory=dict)

    what: str = ""

    @property
    def card(self) -> str:
        return self.says.get("card", "RTX 4090")


def read_case(name: str) -> Case:
    case = Case(name, os.path.join(CASES, name + ".py"))
    with open(case.path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                break
            key, _, value = line[1:].partition(":")
            case.says[key.strip()] = value.strip()
    with open(case.path, encoding="utf-8") as file:
        case.what = " ".join((ast.get_docstring(ast.parse(file.read())) or name).split())
    return case


def all_cases() -> list[Case]:
    names = sorted(name.removesuffix(".py") for name in os.listdir(CASES) if name.endswith(".py"))
    return [read_case(name) for name in names if name not in HELPERS]


def lacks(python: str, case: Case) -> str:
    """The first module that is not there; "" when all are."""
    for module in case.says.get("needs", "").replace(",", " ").split():
        find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
        if subprocess.run([python, "-c", find]).returncode:
            return module
    return ""


def command_of(options: argparse.Namespace, case: Case) -> list[str]:
    if case.says.get("run") != "torchrun":
        return [options.python, case.path]
    n_cards = int(case.card.split("x ")[0]) if "x " in case.card else 1
    return [options.python, "-m", "torch.distributed.run", "--nproc_per_node", str(n_cards), case.path]


def told_in(said: str) -> list[dict]:
    return [json.loads(found) for found in re.findall(r"told: (\{.*?\}\})", said)]


def charged_bytes(lines: list[dict]) -> int:
    """What the program asked for, without managed memory, which PyTorch does not count; the rest is overhead."""
    return sum(line["bytes"] for line in lines if line["basis"] == "exact" and line["what"] != "managed memory")


def check_memory(receipt: dict, said: str) -> list[str]:
    """What is wrong with the receipt, beside what the processes told."""
    told = told_in(said)
    if not told:
        return ["it did not come to its end"]
    wrong = []
    for device, card in enumerate(receipt["devices"]):
        for when, lines in enumerate((card["end_lines"], card["lines"])):
            charged = charged_bytes(lines)
            reserved = sum(one["reserved"].get(str(device), [0, 0])[when] for one in told)
            if charged != reserved:
                wrong.append(f"gpu{device} {('at the end', 'at the peak')[when]}: ledger {charged}, PyTorch {reserved}")
    return wrong


def check_peaks(receipt: dict, said: str, case: Case) -> list[str]:
    """PyTorch's own peaks: those of the process that reserved most."""
    wrong = []
    for device, card in enumerate(receipt["devices"]):
        here = [(one["reserved"][str(device)][1], one.get("peaks", {}).get(str(device))) for one in told_in(said)
                if one["reserved"].get(str(device), [0, 0])[1]]
        reserved, peaks = max(here, default=(0, None))
        found = card["pytorch"] or {}
        if found.get("reserved_peak_bytes", 0) != reserved or found.get("processes", 0) != len(here):
            wrong.append(f"gpu{device}: PyTorch's peaks are {found}, but {reserved} was reserved by one of {len(here)} processes")
        elif peaks and [found[f"{figure}_peak_bytes"] for figure in ("allocated", "active", "reserved")] != peaks:
            wrong.append(f"gpu{device}: PyTorch's peaks are {found}, but it said {peaks}")
        if case.says.get("pytorch", found.get("basis")) != found.get("basis"):
            wrong.append(f"gpu{device}: PyTorch's peaks are {found}")
    return wrong


def check_limits(receipt: dict, case: Case, seconds: float) -> list[str]:
    found = re.fullmatch(r"([\d.]+) s, ([\d.]+) GiB", case.says.get("at most", ""))
    if not found:
        return []
    most_s, most_gib = float(found[1]), float(found[2])
    resident = receipt["host"]["peak_rss_bytes"] / GIB
    return [f"{seconds:.0f} s, {resident:.1f} GiB resident"] if seconds > most_s or resident > most_gib else []


def run(options: argparse.Namespace, case: Case, folder: str) -> tuple[list[str], dict, float]:
    """What is wrong, the receipt, and the seconds it took."""
    receipt_path, log_path = os.path.join(folder, case.name + ".json"), os.path.join(folder, case.name + ".log")
    environment = dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="2",
                       PLIM_TEST_PLIMSOLL=options.plimsoll)
    for pair in case.says.get("environment", "").split():
        name, _, value = pair.partition("=")
        environment[name] = value
    command = [options.plimsoll, "rehearse", "--card", case.card, "--until", "exit", "--timeout", str(TIMEOUT_S),
               "--receipt", receipt_path, "--log", log_path, *case.says.get("options", "").split(), "--", *command_of(options, case)]
    started = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    seconds = time.monotonic() - started
    with open(log_path, encoding="utf-8", errors="replace") as file:
        said = file.read()
    if not os.path.exists(receipt_path):
        return [f"no receipt: {done.stderr[-500:]}"], {}, seconds
    with open(receipt_path, encoding="utf-8") as file:
        receipt = json.load(file)
    wrong = check_limits(receipt, case, seconds)
    if done.returncode:
        wrong.append(f"exit {done.returncode}: {said.strip()[-1500:]}")
    elif "out of memory" not in case.says:
        wrong += check_memory(receipt, said) + check_peaks(receipt, said, case)
    if receipt["oom"] != ("out of memory" in case.says):
        wrong.append("the receipt says it ran out of memory" if receipt["oom"] else "the receipt does not say that it ran out of memory")
    full = receipt["oom_at"]["device"] if receipt["oom"] else ""
    if receipt["oom"] and case.says.get("out of memory") not in ("", full):
        wrong.append(f"the receipt says that {full} is full")
    return wrong, receipt, seconds


def row_of(case: Case, receipt: dict, said: str, is_right: bool) -> table.Row:
    reserved = sum(peak for one in told_in(said) for _, peak in one["reserved"].values())
    return table.Row(case.what, case.card, None if "out of memory" in case.says else reserved,
                     sum(charged_bytes(card["lines"]) for card in receipt["devices"]),
                     sum(card["peak_bytes"] for card in receipt["devices"]), is_right)


def version_of(python: str) -> str:
    ask = "import importlib.metadata as m; print(m.version('torch'))"  # to import it, it would need a card
    return subprocess.run([python, "-c", ask], capture_output=True, text=True).stdout.strip()


def main() -> int:
    os.environ.pop("MALLOC_PERTURB_", None)  # of meson: it writes all memory that a program asks for
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True, help="of the virtual environment (tests/engine/fetch_torch.sh)")
    parser.add_argument("--keep", metavar="DIR", help="leave receipts and logs there")
    parser.add_argument("--page", metavar="FILE", help="write the table there")
    options = parser.parse_args()
    if not os.path.exists(options.python):
        print(f"skipped: no PyTorch in {options.python}; tests/engine/fetch_torch.sh brings it")
        return 77
    n_wrong, rows = 0, []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for case in [read_case(name) for name in options.cases] or all_cases():
            missing = lacks(options.python, case)
            if missing:
                print(f"skip  {case.name}: no {missing}", flush=True)
                continue
            wrong, receipt, seconds = run(options, case, folder)
            peak = sum(card["peak_bytes"] for card in receipt.get("devices", []))
            unknown = [warning["what"] for warning in receipt.get("warnings", []) if warning["kind"] == "not_supported"]
            print(f"{'FAIL' if wrong else 'ok  '}  {case.name:<24} {seconds:5.1f} s  peak {peak / GIB:7.3f} GiB", flush=True)
            for line in [*wrong, *(f"not supported: {what}" for what in unknown)]:
                print("      " + line.replace("\n", "\n      "), flush=True)
            n_wrong += bool(wrong)
            if receipt:
                with open(os.path.join(folder, case.name + ".log"), encoding="utf-8", errors="replace") as file:
                    rows.append(row_of(case, receipt, file.read(), not wrong))
    if options.page:
        table.write(options.page, version_of(options.python), rows)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

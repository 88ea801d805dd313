#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
How well `plimsoll explain` reads logs: score.py PLIMSOLL [--set all|held|tuned] [--noise N] [--seed N] [--wrong] [--gate]

Each case of cases/*.txt is read plain and with N kinds of noise. Said per framework and in all: is the framework right,
the cause where the log determines it, each printed figure, and is nothing called a memory failure that is none.
--folder FOLDER: the logs of FOLDER/expected.json instead, or of such a folder in a FOLDER.tar.xz; then it is also said how often no cause was
named, which is not wrong, and how many were right of those whose log decides its cause (`decided`: two people who saw only the logs agreed).
--gate: exit 1 below the marks that the project set itself; --least RIGHT,CALLED: fewer causes, or more look-alikes called, than that instead.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tarfile

import cases as fixtures

MARKS = {"framework": 95.0, "cause": 92.0, "numbers": 97.0}


def explain(program, text):
    ran = subprocess.run([program, "explain", "--json", "-"], input=text.encode("utf-8", "surrogateescape"), capture_output=True,
                         timeout=60, check=False)
    if ran.returncode not in (0, 1):
        raise SystemExit(f"{program} explain: exit {ran.returncode}: {ran.stderr.decode(errors='replace')[:400]}")
    return json.loads(ran.stdout)


def numbers_of(finding):
    numbers = dict(finding.get("numbers") or {})
    for other in numbers.pop("others", None) or []:
        numbers[f"others.{other['pid']}"] = other["bytes"]
    return numbers


def is_same(said, value):
    if value is None or said is None:
        return said is None and value is None
    if isinstance(value, float):
        return abs(said - value) < 1e-6
    return said == value


class Score:
    def __init__(self):
        self.right = collections.Counter()
        self.asked = collections.Counter()
        self.called = self.called_surely = self.sure_and_wrong = self.silent = 0

    def add(self, what, is_right):
        self.asked[what] += 1
        self.right[what] += bool(is_right)

    def percent(self, what):
        return 100.0 * self.right[what] / self.asked[what] if self.asked[what] else None

    def row(self, name):
        cells = []
        for what in MARKS:
            percent = self.percent(what)
            cells.append("         -        " if percent is None else f"{percent:6.1f} % of {self.asked[what]:<5d} ")
        return f"{name:16s} {' '.join(cells)} {self.called:3d} of {self.asked['not_oom']:<5d} {self.sure_and_wrong:3d}"


def judge(variant, answer, scores):
    """The scores of one log, and what was wrong with it."""
    case, wrong = variant.case, []
    findings = answer.get("findings") or []
    root = findings[0] if findings else {}
    if case.not_oom:
        is_called = bool(findings) and root.get("cause") != "not_oom"
        is_too_sure = case.unsure and root.get("confidence") == "high"
        for score in scores:
            score.add("not_oom", not is_called)
            score.called += is_called
            score.called_surely += is_called and root.get("confidence") == "high"
            score.sure_and_wrong += is_too_sure
        return ([f"called {root.get('kind')} {root.get('cause')}"] if is_called else []) + ["too sure"] * is_too_sure

    def add(what, is_right, text):
        for score in scores:
            score.add(what, is_right)
        if not is_right:
            wrong.append(f"{what}: {text}")

    if case.frameworks:
        add("framework", root.get("framework") in case.frameworks and root.get("cause") != "not_oom",
            f"{root.get('framework')} ({root.get('kind')}, {root.get('cause')}), not {'|'.join(case.frameworks)}")
    if case.causes and not variant.is_cut:
        for score in scores:
            score.sure_and_wrong += root.get("cause") not in case.causes and root.get("confidence") == "high"
            score.silent += root.get("cause") is None
            if case.decided:
                score.add("decided", root.get("cause") in case.causes)
        add("cause", root.get("cause") in case.causes, f"{root.get('cause')} ({root.get('kind')}), not {'|'.join(case.causes)}")
    said = numbers_of(root)
    for name, value in sorted(variant.numbers.items()):
        add("numbers", is_same(said.get(name), value), f"{name}={said.get(name)}, not {value}")
    return wrong


def files_of(folder):
    """A function that reads a file of the folder, or of the archive."""
    def of_folder(name):
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    if not folder.endswith(".tar.xz"):
        return of_folder
    with tarfile.open(folder) as archive:
        texts = {member.name.removeprefix("./"): archive.extractfile(member).read() for member in archive if member.isfile()}
    return texts.__getitem__


def variants_of(options):
    if options.folder:
        read = files_of(options.folder)
        for name, row in sorted(json.loads(read("expected.json")).items()):
            case = fixtures.Case(name, name)
            case.frameworks, case.causes, case.not_oom = row["framework"], row.get("cause", []), row.get("not_oom", False)
            case.decided = row.get("decided", False)
            yield fixtures.Variant(case, "file", read(name).decode("utf-8", "surrogateescape"), row.get("numbers", {}), False)
        return
    for case in fixtures.read_cases():
        if options.set == "all" or (options.set == "held") == case.held:
            yield from fixtures.variants(case, options.noise, options.seed)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--set", default="all", choices=["all", "held", "tuned"])
    parser.add_argument("--noise", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder")
    parser.add_argument("--wrong", action="store_true", help="say what was wrong")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--least", metavar="RIGHT,CALLED", help="how many causes must be right, and how many look-alikes may be called")
    options = parser.parse_args(arguments)
    total, rows = Score(), {}
    for variant in variants_of(options):
        name = "look-alikes" if variant.case.not_oom else (variant.case.frameworks or ["?"])[0]
        row = rows.setdefault(name, Score())
        wrong = judge(variant, explain(options.program, variant.text), [total, row])
        if wrong and options.wrong:
            print(f"{variant.case.name} {variant.kind}: {'; '.join(wrong)}")
    print(f"{'':16s} {'framework':>18s} {'cause':>18s} {'numbers':>18s}  called OOM, is not   sure, wrong")
    for name in sorted(rows):
        print(rows[name].row(name))
    print(total.row("all"))
    if options.folder:
        wrong = total.asked["cause"] - total.right["cause"] - total.silent
        print(f"causes: {total.right['cause']} right, {total.silent} not named, {wrong} wrong, {total.sure_and_wrong} of these sure; "
              f"{total.right['decided']} right of {total.asked['decided']} decided; {total.called_surely} look-alikes surely called")
    if options.least:
        right, called = (int(text) for text in options.least.split(","))
        is_good = total.right["cause"] >= right and total.called <= called and not total.called_surely
    else:
        is_good = not total.called and all(total.percent(what) is None or total.percent(what) >= mark for what, mark in MARKS.items())
    is_good = is_good and not total.sure_and_wrong
    return 0 if is_good or not options.gate else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

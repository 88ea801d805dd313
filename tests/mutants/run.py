#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Small deliberate mistakes in the source: does the suite that should notice fail?

    run.py [--sample N --seed TEXT] [--only TEXT] [--jobs N] [--fresh]
    run.py --check      only: does every mutant apply, is every suite there? builds nothing

The lists are *.mutants, one for a folder of src/. A mutant is a block of lines:

    == the mistake, in words
    in src/bill/verdict.c plim_bill_verdict      file, and the function (table, constant, macro) that is changed
    - a <= b                                     what is searched; it stands there once, however it is wrapped
    + a < b                                      what takes its place; lines may follow each other, none: it is deleted
    by unit bill                                 the suite that notices; further lines "by" are tried in turn:
                                                 unit NAME        a test of Meson's suite unit
                                                 cli NAME         the cases of tests/cli whose name contains NAME
                                                 cli FILE.cases   all cases of a file
                                                 faults CASE...   these cases of tests/faults, --all their calls
                                                 terminal, remote, docs, explain, receipts, picture   these suites
                                                 build            the compiler (a static assertion)
                                                 sanitized ...    the same with AddressSanitizer and UBSan
    alone                                        it may signal any process: only in a pid namespace of its own
    survives REASON                              nobody can notice, and why

The mistakes are made in a copy of the tree under build-mutants. What was found is kept there: a stopped run goes on
where it was, and only what changed (the mutant, its source file, the tests of its suite) is tried again. A suite that
does not end counts as noticing. The exit status is 1 when a mutant survives that is not listed as a survivor, a listed
one is noticed, or one does not apply or compile.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import fcntl
import hashlib
import json
import os
import pathlib
import queue
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import mutants
from mutants import Mutant, Suite, Wrong

WORK = mutants.ROOT / "build-mutants"
RESULTS = WORK / "results.json"
SUITE_LIMIT_S = 120
WANTED_PERCENT = 95
NOT_COPIED = ("build", ".git", ".cache", "__pycache__", ".github")
OPTIONS = ["-Dbuildtype=plain", "-Ddefault_library=static"]
BUILDS = {
    False: (["-Dc_args=-O0"], {}),
    True: (["-Dc_args=-O1", "-Db_sanitize=address,undefined", "-Db_lundef=false"], {"CC": "clang"}),
}
TEST_NAMES = {"cli": "cli command line", "remote": "cli models on servers", "faults": "cli calls that fail", "terminal": "cli terminal",
              "docs": "docs examples of README, docs and manual", "explain": "explain logs of the field",
              "receipts": "receipts recorded receipts", "picture": "picture data in the page of a trace"}
CONFINE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]


def can_confine() -> bool:
    """Whether a suite can have a pid namespace of its own, so that no mistake reaches a process outside."""
    done = subprocess.run([*CONFINE, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


class Tree:
    """A copy of the source tree with its builds."""

    def __init__(self, number: int, confined: bool):
        self.source = WORK / str(number) / "tree"
        self.confined = confined
        self.process: subprocess.Popen | None = None  # the suite that runs
        self.tests: dict[bool, dict[str, dict]] = {}
        self.copy()

    def copy(self) -> None:
        """What is in the tree now; files that are as they were keep their time, so that they are not built again."""
        wanted = set()
        for folder, folders, names in os.walk(mutants.ROOT):
            folders[:] = [name for name in folders if not name.startswith(NOT_COPIED)]
            for name in names:
                path = pathlib.Path(folder) / name
                relative = path.relative_to(mutants.ROOT)
                wanted.add(relative)
                target = self.source / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.exists() or target.read_bytes() != path.read_bytes():
                    shutil.copy(path, target)
        for path in list(self.source.rglob("*")):
            if path.is_file() and path.relative_to(self.source) not in wanted:
                path.unlink()

    def directory(self, sanitized: bool) -> pathlib.Path:
        return self.source.parent / ("sanitized" if sanitized else "plain")

    def test(self, suite: Suite) -> dict:
        """What Meson knows of the test of a suite; the build directory is made when it is first needed."""
        directory = self.directory(suite.sanitized)
        if suite.sanitized not in self.tests:
            update = ["ninja", "-C", str(directory), "build.ninja"]
            if subprocess.run(update, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
                shutil.rmtree(directory, ignore_errors=True)  # there is none, or a run was stopped while it was made
                options, environment = BUILDS[suite.sanitized]
                subprocess.run(["meson", "setup", str(directory), str(self.source), *OPTIONS, *options], check=True,
                               env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
            files = {target["id"]: target["filename"] for target in read_json(directory, "targets")}
            tests = {}
            for test in read_json(directory, "tests"):
                outputs = [path for target in test["depends"] for path in files[target]]
                kind = test["suite"][0].rpartition(":")[2]
                tests[f"{kind} {test['name']}"] = {**test, "outputs": sorted(os.path.relpath(path, directory) for path in outputs)}
            self.tests[suite.sanitized] = tests
        name = TEST_NAMES.get(suite.kind, f"{suite.kind} {suite.name}")
        if name not in self.tests[suite.sanitized]:
            raise Wrong(f"the build has no test '{name}'")
        return self.tests[suite.sanitized][name]

    def build(self, suite: Suite) -> str:
        """The error of the build, or nothing."""
        outputs = ["src/plimsoll"] if suite.kind != "unit" else []
        if suite.kind == "build":
            self.test(Suite("unit", "units", suite.sanitized))
        else:
            outputs += self.test(suite)["outputs"]
        for _ in range(2):  # a machine without memory to spare ends a compiler now and then
            done = subprocess.run(["ninja", "-C", str(self.directory(suite.sanitized)), *outputs], capture_output=True,
                                  text=True, check=False)
            if done.returncode == 0:
                return ""
        return done.stdout + done.stderr

    def run(self, suite: Suite, names: list[str]) -> tuple[bool, str]:
        """Whether the suite passes, and the end of what it prints; names are those of cases."""
        test = self.test(suite)
        directory = self.directory(suite.sanitized)
        chosen = names if suite.kind == "cli" else suite.name.split() if suite.kind == "faults" else []
        command = [*(CONFINE if self.confined else []), *test["cmd"], *chosen]
        environment = {**os.environ, **test["env"], "PYTHONDONTWRITEBYTECODE": "1"}
        if suite.sanitized:
            environment |= {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "halt_on_error=1", "PLIMSOLL_SANITIZED": "1"}
        process = subprocess.Popen(command, cwd=test["workdir"] or directory, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.process = process
        try:
            output, _ = process.communicate(timeout=SUITE_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.end_suite()
            process.communicate()
            return False, f"did not end within {SUITE_LIMIT_S} s"
        return process.returncode == 0, output.decode(errors="replace")

    def end_suite(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def try_mutant(self, mutant: Mutant) -> str:
        """What became of a mutant: 'noticed by ...', 'survived' or 'error: ...'."""
        path = self.source / mutant.file
        original = path.read_text()
        path.write_text(mutants.apply(mutant, original))
        try:
            for suite in mutant.suites:
                error = self.build(suite)
                if suite.kind == "build":
                    if error:
                        return "noticed by build"
                    continue
                if error:
                    return "error: does not compile: " + "".join(line for line in error.splitlines() if "error:" in line)[:200]
                passes, output = self.run(suite, [suite.name])
                if not passes:
                    return f"noticed by {suite}" + (f" ({output})" if output.startswith("did not end") else "")
            return "survived"
        finally:
            path.write_text(original)


def read_json(directory: pathlib.Path, what: str) -> list:
    return json.loads((directory / "meson-info" / f"intro-{what}.json").read_text())


class Results:
    """What was found, kept under a key of all that it depends on: the mutant, its file and the tests of its suites."""

    def __init__(self, fresh: bool):
        self.lock = threading.Lock()
        self.keys: dict[str, str] = {}  # as the files were when the run began
        self.found = json.loads(RESULTS.read_text()) if RESULTS.exists() and not fresh else {}

    def key(self, mutant: Mutant) -> str:
        if mutant.name in self.keys:
            return self.keys[mutant.name]
        total = hashlib.sha256(mutant.text().encode())
        files = [mutants.ROOT / mutant.file] + [path for suite in mutant.suites for path in mutants.suite_files(suite)]
        for path in files:
            total.update(path.read_bytes())
        self.keys[mutant.name] = total.hexdigest()
        return self.keys[mutant.name]

    def get(self, mutant: Mutant) -> str | None:
        return self.found.get(self.key(mutant), {}).get("result")

    def put(self, mutant: Mutant, result: str, seconds: float) -> None:
        with self.lock:
            self.found[self.key(mutant)] = {"mutant": mutant.name, "result": result, "seconds": round(seconds, 1)}
            temporary = RESULTS.with_suffix(".new")
            temporary.write_text(json.dumps(self.found, indent=1))
            temporary.rename(RESULTS)


def check_suites(tree: Tree, chosen: list[Mutant]) -> list[str]:
    """A suite has to pass as long as nothing is wrong, or it notices nothing. Cases of the command line go together."""
    suites = {suite for mutant in chosen for suite in mutant.suites if suite.kind != "build"}
    cases = {which: sorted(suite.name for suite in suites if suite.kind == "cli" and suite.sanitized == which)
             for which in (False, True)}
    runs = [(suite, []) for suite in sorted(suites, key=str) if suite.kind != "cli"]
    runs += [(Suite("cli", "cases of the list", which), names) for which, names in cases.items() if names]
    complaints = []
    for suite, names in runs:
        started = time.monotonic()
        error = tree.build(suite)
        passes, output = (False, error) if error else tree.run(suite, names)
        print(f"{'passes' if passes else 'FAILS':30} {time.monotonic() - started:5.1f} s  {suite}, without a mutant", flush=True)
        if not passes:
            complaints.append(f"'{suite}' fails without a mutant:\n" + "\n".join(output.splitlines()[-15:]))
    return complaints


def try_all(trees: list[Tree], chosen: list[Mutant], results: Results) -> None:
    """Try the mutants, side by side in the trees."""
    free: queue.Queue[Tree] = queue.Queue()
    for tree in trees:
        free.put(tree)

    def one(mutant: Mutant) -> None:
        tree = free.get()
        started = time.monotonic()
        try:
            result = tree.try_mutant(mutant) if tree.confined or not mutant.alone else "skipped: needs a pid namespace"
        finally:
            free.put(tree)
        seconds = time.monotonic() - started
        if not result.startswith("skipped"):
            results.put(mutant, result, seconds)
        print(f"{result:30} {seconds:5.1f} s  {mutant.file}: {mutant.name}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(max_workers=len(trees)) as pool:
        tasks = [pool.submit(one, mutant) for mutant in chosen]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            for task in tasks:
                task.cancel()
            for tree in trees:
                tree.end_suite()
            raise


def sum_up(chosen: list[Mutant], results: Results) -> int:
    """Print what survived, and the line of figures; the exit status."""
    found = {mutant.name: results.get(mutant) or "skipped" for mutant in chosen}
    survivors = [mutant for mutant in chosen if found[mutant.name] == "survived"]
    listed = [mutant for mutant in survivors if mutant.survives]
    unlisted = [mutant for mutant in survivors if not mutant.survives]
    noticed = [mutant for mutant in chosen if found[mutant.name].startswith("noticed")]
    wrong = [mutant for mutant in chosen if found[mutant.name].startswith("error")]
    wrong += [mutant for mutant in noticed if mutant.survives]
    n_skipped = sum(result == "skipped" for result in found.values())
    for mutant in listed:
        print(f"survives as listed: {mutant.where} {mutant.name}: {mutant.survives}")
    for mutant in unlisted:
        print(f"SURVIVES: {mutant.where} {mutant.name} ({mutant.file}, {mutant.function})")
    for mutant in wrong:
        print(f"WRONG: {mutant.where} {mutant.name}: {found[mutant.name]}" + (", but listed as a survivor" if mutant.survives else ""))
    n_tried = len(chosen) - n_skipped
    percent = 100 * len(noticed) / n_tried if n_tried else 100
    skipped = f", {n_skipped} skipped (no pid namespace)" if n_skipped else ""
    print(f"{n_tried} mutants, {len(noticed)} noticed ({percent:.1f} %), {len(listed)} survive as listed, "
          f"{len(unlisted)} survive unlisted, {len(wrong)} wrong{skipped}")
    is_whole = len(chosen) > 100
    return 1 if unlisted or wrong or (is_whole and percent < WANTED_PERCENT) else 0


def choose(options: argparse.Namespace, everything: list[Mutant]) -> list[Mutant]:
    chosen = [mutant for mutant in everything if options.only in f"{mutant.file} {mutant.function} {mutant.name}"]
    if options.sample and options.sample < len(chosen):
        print(f"a sample of {options.sample} of {len(chosen)}, seed {options.seed}")
        names = {mutant.name for mutant in random.Random(options.seed).sample(chosen, options.sample)}
        chosen = [mutant for mutant in chosen if mutant.name in names]
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description="Put small mistakes into the source: do the tests notice?")
    parser.add_argument("--check", action="store_true", help="only whether every mutant applies")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only N of them, chosen by --seed")
    parser.add_argument("--seed", default=time.strftime("%Y-%m-%d"), metavar="TEXT")
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose file, function or name contains it")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="copies of the tree to work in")
    parser.add_argument("--fresh", action="store_true", help="forget what was found before")
    options = parser.parse_args()
    everything = mutants.read_all()
    complaints = mutants.check(everything) + (mutants.bare_folders(everything) if options.check else [])
    if complaints:
        print("\n".join(complaints))
        return 1
    if options.check:
        print(f"{len(everything)} mutants apply")
        return 0
    chosen = choose(options, everything)
    WORK.mkdir(exist_ok=True)
    lock = open(WORK / "lock", "w", encoding="utf-8")  # noqa: SIM115 - until this program ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Wrong(f"another run works in {WORK}") from None
    results = Results(options.fresh)
    left = [mutant for mutant in chosen if results.get(mutant) is None]
    if len(left) < len(chosen):
        print(f"{len(chosen) - len(left)} are known from the last run ({shlex.quote(str(RESULTS))})")
    if left:
        confined = can_confine()
        trees = [Tree(number, confined) for number in range(max(1, min(options.jobs, len(left))))]
        complaints = check_suites(trees[0], left)
        if complaints:
            print("\n".join(complaints))
            return 1
        try_all(trees, left, results)
    return sum_up(chosen, results)


def stop(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(str(wrong))
    except KeyboardInterrupt:
        sys.exit("stopped; the next run goes on from here")

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Let calls of whole commands fail, one in each run, and look at what comes of it.

    run.py --plimsoll PROGRAM --preload FAULTS --program PROGRAM --nvml LIBRARY [--all] [--seed N] [CASE...]

Each command of cases.py is run once undisturbed, which counts its calls; then once for each call, kind of failure and
errno. That is every run up to 200 of a kind with --all; without it, the first and the last call of each kind and a
sample by --seed. judge.py says what may come of a run.
"""
from __future__ import annotations

import argparse
import collections
import ctypes
import hashlib
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bad_outcomes
import cases
import judge
from judge import Fault, Outcome

LIMIT_S = 30  # a run takes some milliseconds
GRACE_S = 2  # for processes that were killed
SIDE_BY_SIDE = 2
SAMPLED = 3  # calls of each kind and errno, without --all
SAMPLED_OF_ALL = 200  # with it: a rehearsal makes thousands of calls on /proc
PR_SET_CHILD_SUBREAPER = 36

# ENOENT is left out: a file that is not there is an answer, not a failure.
ERRORS = {
    "open": ["EMFILE", "EACCES", "EIO"],
    "read": ["EIO", "EINTR", "short"],
    "write": ["ENOSPC", "EIO", "EINTR", "short"],
    "close": ["EIO"],
    "stat": ["EIO", "EACCES"],
    "mmap": ["ENOMEM"],
    "fork": ["EAGAIN"],
    "wait": ["EINTR"],
    "exec": ["EACCES", "EIO"],
    "proc": ["EIO"],
    "stderr": ["ENOSPC", "short"],
}
# What lasts: no descriptor is left, the disk is full, no memory is left.
LASTING = {"open": "EMFILE", "write": "ENOSPC", "mmap": "ENOMEM"}


# --- files ---


def digest(path: pathlib.Path) -> tuple[int, str]:
    """Size and data of a file, without its holes."""
    size, at, data = path.stat().st_size, 0, hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while at < size:
            try:
                start = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            at = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            data.update(os.pread(file.fileno(), at - start, start).rstrip(b"\0"))
    return size, data.hexdigest() if size else ""


def look(folder: pathlib.Path, case: cases.Case) -> dict[str, tuple[int, str]]:
    """All files of a folder; folders, too, when they are empty. Receipts are taken without their times."""
    found: dict[str, tuple[int, str]] = {}
    for place, folders, files in os.walk(folder):
        here = pathlib.Path(place)
        for name in files:
            answer = judge.steady(case, (here / name).read_bytes()) if name == "receipt.json" else b""
            is_whole = not isinstance(answer, bytes)
            found[str((here / name).relative_to(folder))] = (0, repr(answer)) if is_whole else digest(here / name)
        if not folders and not files and here != folder:
            found[f"{here.relative_to(folder)}/"] = (0, "")
    return found


# --- a run ---


class Place:
    """Where a worker runs its commands: nothing of a run is left for the next."""

    def __init__(self, root: pathlib.Path, options: argparse.Namespace, env: dict[str, str], nth: int) -> None:
        self.options, self.root = options, root
        self.folder, self.tmp = root / f"worker-{nth}" / "run", root / f"worker-{nth}" / "tmp"
        self.report = root / f"worker-{nth}" / "report"
        self.env = {**env, "TMPDIR": str(self.tmp)}
        if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise SystemExit("cannot adopt the processes that a command leaves behind")

    def prepare(self, case: cases.Case) -> dict[str, tuple[int, str]]:
        for folder in (self.folder, self.tmp):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for name in case.before:
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(cases.FORMER_PAGE if name.endswith(".html") else cases.FORMER)
        self.report.write_bytes(bytes(judge.REPORT_BYTES))
        return look(self.folder, case)

    def run(self, case: cases.Case, fault: Fault | None, has_preload: bool = True) -> tuple[Outcome, dict[str, tuple[int, str]]]:
        before = self.prepare(case)
        env = {**self.env, **dict(case.env)}
        if has_preload:
            env |= {"LD_PRELOAD": self.options.preload, "PLIM_FAULT_REPORT": str(self.report)}
        if fault:
            env["PLIM_FAULT"] = fault.environment
        stdin = open(self.folder / case.stdin, "rb") if case.stdin else subprocess.DEVNULL
        process = subprocess.Popen([self.options.plimsoll, *case.arguments], cwd=self.folder, env=env, stdin=stdin,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        is_hung = False
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            is_hung = True
            process.kill()
            out, err = b"", b""
            process.wait()
        if case.stdin:
            stdin.close()
        report = judge.read_report(self.report.read_bytes())
        left = self.left_processes()
        return Outcome(process.returncode, out, err, look(self.folder, case), self.left_files(report), left, report, is_hung), before

    def left_files(self, report: judge.Report) -> list[str]:
        ours = str(self.folder) + "/"
        made = [path for path in report.made if not path.startswith(ours) and os.path.lexists(path)]
        return sorted({*made, *(str(path) for path in self.tmp.iterdir())})

    def left_processes(self) -> list[str]:
        """Processes of the command that did not end with it: this process adopts them. They are ended here."""
        until = time.monotonic() + GRACE_S
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return []
            if pid == 0 and time.monotonic() > until:
                break
            if pid == 0:
                time.sleep(0.005)
        found = []
        while True:
            children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            for child in children:
                found.append(pathlib.Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ").strip())
                os.kill(int(child), signal.SIGKILL)
                os.waitpid(int(child), 0)
            if not children:
                return found


# --- which runs ---


def faults_of(calls: dict[str, int], is_all: bool, choose: random.Random) -> list[Fault]:
    chosen = []
    for kind, errors in ERRORS.items():
        n = calls[kind]
        forms = [(error, False) for error in errors] + ([(LASTING[kind], True)] if kind in LASTING else [])
        for error, is_lasting in forms:
            most = SAMPLED_OF_ALL if is_all else SAMPLED
            numbers = set(range(1, n + 1)) if n <= most else {1, n, *choose.sample(range(1, n + 1), most - 2)}
            chosen += [Fault(kind, nth, error, is_lasting) for nth in sorted(numbers)]
    return chosen


def undisturbed(place: Place, case: cases.Case) -> tuple[Outcome, list[str]]:
    plain, _ = place.run(case, None, has_preload=False)
    clean, _ = place.run(case, None)
    wrong = []
    if not judge.same_answer(case, plain, clean) or plain.status not in (0, 1, 124):
        wrong.append(f"undisturbed: exit status {plain.status}, with the preload {clean.status}: {clean.stderr.decode()}")
    if clean.left or clean.processes or clean.report.owner == 0:
        wrong.append(f"undisturbed: left behind: {clean.left + clean.processes}")
    return clean, wrong


def work(place: Place, case: cases.Case, options: argparse.Namespace) -> tuple[str, dict[str, int], int, int, list[str]]:
    """All runs of a case: its calls, the number of runs and of those in which a call failed, and complaints."""
    clean, wrong = undisturbed(place, case)
    found = [f"{case.name}: {line}" for line in wrong]
    n_runs = n_hit = 0
    for fault in faults_of(clean.report.calls, options.all, random.Random(f"{options.seed} {case.name}")):
        outcome, before = place.run(case, fault)
        n_runs += 1
        if outcome.report.n_hits:
            n_hit += 1
            what = f"{case.name}: {fault} ({outcome.report.hit_call} {outcome.report.hit_path})"
            found += [f"{what}: {line}" for line in judge.complaints(case, fault, outcome, clean, before)]
    return case.name, clean.report.calls, n_runs, n_hit, found


place_of_worker: Place


def begin_worker(root: pathlib.Path, options: argparse.Namespace, env: dict[str, str]) -> None:
    global place_of_worker
    place_of_worker = Place(root, options, env, os.getpid())


def work_in_worker(task: tuple[cases.Case, argparse.Namespace]) -> tuple[str, dict[str, int], int, int, list[str]]:
    return work(place_of_worker, *task)


def main() -> int:
    parser = argparse.ArgumentParser(description="Let calls of whole commands fail.")
    for name in ("plimsoll", "preload", "program", "nvml"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--all", action="store_true", help="every call of every kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="CASE")
    options = parser.parse_args()
    if b"__asan_init" in pathlib.Path(options.plimsoll).read_bytes():
        print("skipped: the functions of a sanitizer come before a preload's")
        return 77
    n_runs = n_hit = 0
    found = bad_outcomes.complaints()
    with tempfile.TemporaryDirectory(prefix="plimsoll-faults-") as directory:
        root = pathlib.Path(directory).resolve()
        env = cases.make_world(root, options.plimsoll, options.program)
        chosen = [case for case in cases.all_cases(options.program, options.nvml)
                  if not options.names or case.name in options.names]
        with multiprocessing.Pool(SIDE_BY_SIDE, begin_worker, (root, options, env)) as pool:
            for name, calls, runs, hit, lines in pool.imap(work_in_worker, [(case, options) for case in chosen]):
                most = SAMPLED_OF_ALL if options.all else SAMPLED
                counted = ", ".join(f"{kind} {n}{' (sampled)' if n > most else ''}" for kind, n in calls.items() if n)
                print(f"{name}: {runs} runs; calls: {counted}", flush=True)
                n_runs, n_hit = n_runs + runs, n_hit + hit
                found += lines
    for line, times in collections.Counter(found).items():
        print(f"FAIL {line}" + (f" ({times} times)" if times > 1 else ""))
    every = f"all calls up to {SAMPLED_OF_ALL} of a kind, " if options.all else ""
    print(f"{n_runs} runs ({every}a sample by seed {options.seed}), {n_hit} with a call that failed, {len(found)} complaints")
    return 1 if found or not n_hit else 0


if __name__ == "__main__":
    sys.exit(main())

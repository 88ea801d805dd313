# SPDX-License-Identifier: MIT
"""What may come of a command of which a call failed: the undisturbed answer, an error, or an answer that names what is missing."""
from __future__ import annotations

import dataclasses
import errno
import json
import re
import struct

from cases import Case

KINDS = ["open", "read", "write", "close", "stat", "mmap", "fork", "wait", "exec", "proc", "stderr"]
LAYOUT = struct.Struct(f"=iiiI{len(KINDS)}Q32s1024s")
MADE_BYTES = 1 << 16
REPORT_BYTES = LAYOUT.size + MADE_BYTES

MAX_ERROR_LINES = 2  # what happened, and a hint

# The answer depends on how long a rehearsal took, and how many processes were seen when.
VOLATILE = {"seconds", "host", "timeline", "peak_us", "t_us", "end_line"}  # end_line: with its seconds; end is compared

# An answer of a fit that lacks something says so by one of these.
NAMES_WHAT_IS_MISSING = re.compile(r"RAM of this machine is unknown|limit of this machine's RAM cannot be read|NVML")


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    nth: int
    error: str  # a name of errno, or short
    is_lasting: bool = False

    @property
    def environment(self) -> str:
        number = self.error if self.error == "short" else str(getattr(errno, self.error))
        return f"{self.kind}:{self.nth}{'+' if self.is_lasting else ''}:{number}"

    def __str__(self) -> str:
        return f"{self.kind} {self.nth}{' and later' if self.is_lasting else ''}: {self.error}"


@dataclasses.dataclass
class Report:
    """What the preload counted."""

    owner: int
    n_hits: int
    hit_fd: int
    calls: dict[str, int]
    hit_call: str
    hit_path: str
    made: list[str]


def read_report(data: bytes) -> Report:
    owner, n_hits, hit_fd, n_made, *rest = LAYOUT.unpack_from(data)
    call, path = (text.split(b"\0")[0].decode(errors="replace") for text in rest[-2:])
    made = data[LAYOUT.size:LAYOUT.size + n_made].decode(errors="replace").split("\0")[:-1]
    return Report(owner, n_hits, hit_fd, dict(zip(KINDS, rest)), call, path, made)


@dataclasses.dataclass
class Outcome:
    status: int  # negative: a signal; None would be a hang, which `is_hung` says
    stdout: bytes
    stderr: bytes
    files: dict[str, tuple[int, str]]  # of the command's folder: size and digest
    left: list[str]  # paths that were made elsewhere and are there still
    processes: list[str]  # that are there still
    report: Report
    is_hung: bool = False


# --- the answer ---


def without_volatile(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_volatile(item) for key, item in value.items() if key not in VOLATILE}
    return [without_volatile(item) for item in value] if isinstance(value, list) else value


def steady(case: Case, text: bytes) -> object:
    """The answer without what differs from run to run."""
    if not case.has_receipt or not text.startswith(b"{"):
        return text
    try:
        return without_volatile(json.loads(text))
    except ValueError:
        return text


def is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def same_answer(case: Case, outcome: Outcome, clean: Outcome) -> bool:
    return outcome.status == clean.status and steady(case, outcome.stdout) == steady(case, clean.stdout)


# --- the files ---


def file_states(case: Case, outcome: Outcome, clean: Outcome, before: dict[str, tuple[int, str]]) -> tuple[set[str], list[str]]:
    """Of the files that the command writes: which of before and after they are; and complaints about all others."""
    states, complaints = set(), []
    for path in sorted(set(before) | set(clean.files) | set(outcome.files)):
        now, then, after = outcome.files.get(path), before.get(path), clean.files.get(path)
        if now == after:
            states |= {"after"} if after != then else set()
        elif now == then:
            states.add("before")
        elif path == "run.log" and now in ((0, ""), None):
            states.add("log")  # emptied for the program, which did not start
        elif after is None:
            complaints.append(f"left behind: {path}")
        else:
            complaints.append(f"half written: {path} ({now[0] if now else 'gone'} of {after[0]} bytes)")
    return states, complaints


def file_complaints(case: Case, outcome: Outcome, clean: Outcome, before: dict[str, tuple[int, str]], is_done: bool) -> list[str]:
    states, complaints = file_states(case, outcome, clean, before)
    if is_done and states - {"after"}:
        complaints.append("done, but not all files are written")
    if case.command == "hollow" and len(states) > 1:
        complaints.append("some files of the model are written, and some are not")
    return complaints


# --- the status and the words ---


def error_statuses(case: Case, fault: Fault, report: Report) -> set[int]:
    """The documented ones for an error of this kind."""
    if report.hit_fd == 1 and report.hit_call == "write":
        return {125} if case.command == "rehearse" else {70}  # the answer cannot be written
    if case.command != "rehearse":
        return {70} if fault.error == "ENOMEM" else {3}
    if fault.kind == "exec" or fault.error == "EACCES" or report.hit_path == "/proc/self":
        return {125, 126}
    return {125, 127} if fault.error == "ENOENT" else {125}


def words_complaints(case: Case, outcome: Outcome) -> list[str]:
    """An error is one line, perhaps with a hint, and names what it is about."""
    text = outcome.stderr.decode(errors="replace").split("receipt of ")[0]  # what ran has its receipt, whatever failed then
    lines = text.strip().splitlines()
    ours = [i for i, line in enumerate(lines) if line.startswith("plimsoll: ")]
    if not ours:
        return ["an error without a message"]
    last = lines[ours[-1]:]
    if len(ours) > case.n_models or len(last) > MAX_ERROR_LINES or (len(last) == 2 and not last[1].startswith("hint: ")):
        return [f"an error of {len(last)} lines, {len(ours)} messages"]
    path = outcome.report.hit_path.rstrip("/").rsplit("/", 1)[-1]
    names = [*case.names, "answer", *([path] if path else [])]
    return [] if any(name in last[0] for name in names) else [f"an error that does not name the file: {last[0]}"]


def answer_complaints(case: Case, fault: Fault, outcome: Outcome, clean: Outcome, before: dict[str, tuple[int, str]]) -> list[str]:
    report = outcome.report
    is_about_stderr = fault.kind == "stderr"
    is_receipt_lost = is_about_stderr and fault.error != "short" and case.name == "rehearse-text"
    # what a file system keeps back until the end, it may lose there
    is_file_lost = fault.kind == "close" and "/run/" in report.hit_path and not report.hit_path.endswith("/run.log")
    if same_answer(case, outcome, clean) and not is_receipt_lost and not is_file_lost:
        return file_complaints(case, outcome, clean, before, True)
    if fault.error == "short":
        return ["a short read or write changes the answer"]
    if outcome.status in error_statuses(case, fault, report):
        complaints = file_complaints(case, outcome, clean, before, False)
        if "--json" in case.arguments and outcome.stdout and report.hit_fd != 1 and not is_json(outcome.stdout):
            complaints.append("an error, and half an answer on stdout")
        return complaints + ([] if is_about_stderr else words_complaints(case, outcome))
    if outcome.status in (0, 1) and case.command == "fit" and NAMES_WHAT_IS_MISSING.search(
            (outcome.stdout + outcome.stderr).decode(errors="replace")):
        return []
    return [f"exit status {outcome.status}, and not the answer of status {clean.status}"]


def complaints(case: Case, fault: Fault, outcome: Outcome, clean: Outcome, before: dict[str, tuple[int, str]]) -> list[str]:
    """None of a run that is as promised."""
    if outcome.is_hung:
        return ["hangs"]
    found = [f"left behind: {path}" for path in outcome.left] + [f"still runs: {process}" for process in outcome.processes]
    if outcome.status < 0:
        return [*found, f"ended by signal {-outcome.status}"]
    return found + answer_complaints(case, fault, outcome, clean, before)

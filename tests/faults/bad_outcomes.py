# SPDX-License-Identifier: MIT
"""Outcomes that no command may have, each with the complaint that judge.py must make of it: its checks can fail."""
from __future__ import annotations

import dataclasses

import judge
from cases import Case
from judge import Fault, Outcome, Report

ANSWER = b'{"answer": 1}\n'
ERROR = b"plimsoll: cannot open: Input/output error (model.gguf)\nhint: look at the disk\n"
BEFORE = {"b": (3, "old")}
AFTER = {"a": (5, "new"), "b": (5, "new")}

FIT = Case("fit", ("fit", "model.gguf", "--json"), ("model.gguf",))
HOLLOW = Case("hollow", ("hollow", "model.gguf", "-o", "out"), ("model.gguf",))
REHEARSE = Case("rehearse", ("rehearse", "--", "program"), ("program",))
TEXT = Case("rehearse-text", ("rehearse", "--", "program"), ("program",))
READ, SHORT = Fault("read", 1, "EIO"), Fault("read", 1, "short")


def report(fd: int = 3, call: str = "read") -> Report:
    return Report(1, 1, fd, {}, call, "/models/model.gguf", [])


CLEAN = Outcome(0, ANSWER, b"", AFTER, [], [], report())
FAILED = Outcome(3, b"", ERROR, BEFORE, [], [], report())


def but(outcome: Outcome, **changes: object) -> Outcome:
    return dataclasses.replace(outcome, **changes)


GOOD = [
    (HOLLOW, READ, CLEAN),
    (HOLLOW, READ, FAILED),
    (HOLLOW, Fault("write", 9, "ENOSPC"), but(FAILED, status=70, files=AFTER, report=report(1, "write"))),
    (REHEARSE, Fault("fork", 1, "EAGAIN"), but(FAILED, status=125)),
    (FIT, READ, but(FAILED, stdout=b'{"results": []}')),
    (FIT, READ, but(CLEAN, stdout=b'{"note": "the RAM of this machine is unknown"}')),
]

BAD = [
    (FIT, READ, but(CLEAN, is_hung=True), "hangs"),
    (FIT, READ, but(FAILED, status=-11), "ended by signal 11"),
    (FIT, READ, but(CLEAN, left=["/dev/shm/x"]), "left behind: /dev/shm/x"),
    (FIT, READ, but(CLEAN, processes=["sleep 60"]), "still runs: sleep 60"),
    (FIT, READ, but(CLEAN, stdout=b'{"answer": 2}\n'), "exit status 0, and not the answer"),
    (FIT, READ, but(CLEAN, status=1), "exit status 1, and not the answer"),
    (FIT, READ, but(FAILED, status=70), "exit status 70, and not the answer"),
    (FIT, READ, but(FAILED, status=2), "exit status 2, and not the answer"),
    (REHEARSE, READ, but(FAILED, status=3), "exit status 3, and not the answer"),
    (REHEARSE, READ, but(FAILED, status=126), "exit status 126, and not the answer"),
    (FIT, READ, but(FAILED, stdout=ANSWER[:5]), "an error, and half an answer on stdout"),
    (FIT, READ, but(FAILED, stderr=b""), "an error without a message"),
    (FIT, READ, but(FAILED, stderr=ERROR + ERROR), "an error of 2 lines, 2 messages"),
    (FIT, READ, but(FAILED, stderr=ERROR + b"and more\n"), "an error of 3 lines, 1 messages"),
    (FIT, READ, but(FAILED, stderr=b"plimsoll: cannot open\n"), "an error that does not name the file"),
    (FIT, SHORT, FAILED, "a short read or write changes the answer"),
    (TEXT, Fault("stderr", 9, "ENOSPC"), but(CLEAN, report=report(2, "write")), "exit status 0, and not the answer"),
    (HOLLOW, Fault("close", 1, "EIO"), but(CLEAN, report=Report(1, 1, 3, {}, "close", "/x/run/out/a", [])), "exit status 0, and not"),
    (HOLLOW, READ, but(CLEAN, files=BEFORE), "done, but not all files are written"),
    (HOLLOW, READ, but(FAILED, files=BEFORE | {"a": (5, "new")}), "some files of the model are written, and some are not"),
    (HOLLOW, READ, but(FAILED, files=BEFORE | {"a": (2, "half")}), "half written: a (2 of 5 bytes)"),
    (HOLLOW, READ, but(FAILED, files={}), "half written: b (gone of 5 bytes)"),
    (HOLLOW, READ, but(FAILED, files=BEFORE | {".part": (5, "new")}), "left behind: .part"),
    (HOLLOW, READ, but(CLEAN, files=AFTER | {".part": (5, "new")}), "left behind: .part"),
]


def complaints() -> list[str]:
    """What judge.py says of them, where that is not what it should say."""
    wrong = []
    for case, fault, outcome in GOOD:
        found = judge.complaints(case, fault, outcome, CLEAN, BEFORE)
        wrong += [f"judge.py complains of a good outcome of {case.name}: {line}" for line in found]
    for case, fault, outcome, wanted in BAD:
        found = judge.complaints(case, fault, outcome, CLEAN, BEFORE)
        if not any(wanted in line for line in found):
            wrong.append(f"judge.py does not say '{wanted}' of {case.name}, but {found}")
    return wrong

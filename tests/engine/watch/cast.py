# SPDX-License-Identifier: MIT
"""The processes of a scene: real programs in a rehearsal, started and ended by its director."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from typing import BinaryIO

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
MOST_S = 120  # only a hang takes this long
PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 15, 36


def wait_for(what: str, is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + MOST_S
    while not is_there():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


def stat_of(pid: int) -> list[str]:
    """/proc/PID/stat from the state on; [] when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def under_a_reaper(direct: Callable[[], int]) -> int:
    """
    Run direct() in a child of this process, which takes in the orphans below it, as tini does in a container or systemd
    in a session, and is called like it. Returns what direct() does.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1))
    libc.prctl(PR_SET_NAME, b"tini")
    director = os.fork()
    if director == 0:
        libc.prctl(PR_SET_NAME, b"director")
        status = 70
        try:
            status = direct()
        except BaseException: # what it says is lost with os._exit()
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
    while True:
        pid, how = os.wait()
        if pid == director:
            return os.waitstatus_to_exitcode(how)


class Cast:
    """All of it ends with the scene."""

    def __init__(self, python: str, ledger: str, folder: str) -> None:
        self.python, self.ledger, self.folder = python, ledger, pathlib.Path(folder)
        self.pids: dict[str, int] = {}
        self.gone: set[str] = set()  # their numbers may be given away again
        self.started: list[subprocess.Popen] = []

    def __enter__(self) -> Cast:
        return self

    def __exit__(self, *_: object) -> None:
        for name, pid in self.pids.items():
            if name not in self.gone and stat_of(pid):
                os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.wait()

    def start(self, name: str, command: list[str], **more: object) -> subprocess.Popen:
        process = subprocess.Popen(command, **more)
        self.started.append(process)
        self.pids[name] = process.pid
        return process

    def holder(self, name: str, *options: str) -> list[str]:
        return [self.python, str(HERE / "holder.py"), "--ready", str(self.folder / name), *options]

    def log(self, name: str) -> BinaryIO:
        """Of its own: what others write to a log would be taken for its doing."""
        return (self.folder / f"{name}.log").open("wb")

    def hold(self, name: str, *options: str) -> None:
        with self.log(name) as log:
            self.start(name, self.holder(name, *options), stdout=log, stderr=log)

    def orphan(self, name: str, *options: str) -> None:
        """The shell that starts it ends at once."""
        with self.log(name) as log:
            subprocess.run(["sh", "-c", shlex.join(self.holder(name, *options)) + " &"], check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_until_ready(self, *names: str) -> None:
        for name in names:
            path = self.folder / name
            wait_for(f"{name} holds its memory", path.exists)
            self.pids[name] = int(path.read_text())

    def llama(self, name: str, program: str, options: object, model: str, card: int) -> None:
        """The engine behind the probe, under the name of a program of llama.cpp."""
        path = self.folder / program
        shutil.copy(options.probe, path)
        with self.log(name) as log:
            self.start(name, [str(path), options.engine, model, "-ngl", "99", "-c", "512", "--wait"], stdin=subprocess.PIPE,
                       stdout=log, stderr=log, env=dict(os.environ, CUDA_VISIBLE_DEVICES=str(card)))
        wait_for(f"{name} is ready", lambda: "probe: ready" in pathlib.Path(log.name).read_text(errors="replace"))

    def keep(self, name: str, pid: int, card: int, mib: int) -> None:
        """Memory that the driver does not give back though the process has ended."""
        subprocess.run([self.ledger, "keep", str(pid), str(card), str(mib)], check=True)
        self.pids[name] = pid

    def vanish(self, name: str, card: int, mib: int) -> None:
        process = subprocess.Popen(["true"])
        process.wait()
        self.gone.add(name)
        self.keep(name, process.pid, card, mib)

    def defunct(self, name: str, card: int, mib: int) -> None:
        process = self.start(name, ["true"])  # and nobody waits for it
        wait_for(f"{name} has ended", lambda: stat_of(process.pid)[:1] == ["Z"])
        self.keep(name, process.pid, card, mib)

    def account(self) -> dict:
        """What the ledger has."""
        return json.loads(subprocess.run([self.ledger, "show"], check=True, capture_output=True, text=True).stdout)


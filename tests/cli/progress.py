#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The line of progress of a rehearsal, on a pseudo-terminal: it comes without breaking the program's own output, goes at
the end, keeps within the terminal's width, and never comes where nobody looks at a terminal that understands it.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

PROGRAM = pathlib.Path(__file__).parent / "programs" / "quiet.py"
LINE = re.compile(rb"plimsoll: \d+ s, ")
MOST_S = 120  # a busy machine
COLUMNS = 70


class Screen:
    """What a terminal makes of the bytes that the line of progress is made of."""

    def __init__(self, columns: int) -> None:
        self.columns, self.rows, self.row, self.column = columns, [[]], 0, 0

    def write(self, data: bytes) -> None:
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[^\x1b]", data.decode()):
            if part == "\x1b[A":
                self.row -= 1
            elif part == "\x1b[K":
                del self.rows[self.row][self.column:]
            elif part == "\r":
                self.column = 0
            elif part == "\n":
                self.down()
            elif not part.startswith("\x1b"):
                self.put(part)

    def down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    def put(self, character: str) -> None:
        if self.column == self.columns:  # the last column holds the cursor until the next character
            self.down()
            self.column = 0
        row = self.rows[self.row]
        row += [" "] * (self.column - len(row))
        row[self.column:self.column + 1] = [character]
        self.column += 1

    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]


class Rehearsal:
    """Of the quiet program, with standard error, and without --log standard output, on a terminal."""

    def __init__(self, plimsoll: str, folder: pathlib.Path, options: list[str], words: list[str], term: str | None = "xterm") -> None:
        self.go = folder / "go"
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        env = {**os.environ, "NO_COLOR": "1", "TERM": term or ""}
        command = [plimsoll, "rehearse", "--card", "4060", *options, "--", sys.executable, str(PROGRAM), str(self.go), *words]

        def own_terminal() -> None:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command, cwd=folder, env=env, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal)
        os.close(slave)
        self.output = b""

    def read_until(self, pattern: re.Pattern[bytes] | None) -> None:
        while not (pattern and pattern.search(self.output)):
            try:
                data = os.read(self.master, 65536)
            except OSError:  # the program has ended
                break
            if not data:
                break
            self.output += data

    def end(self) -> None:
        self.go.touch()
        self.read_until(None)
        self.process.wait(timeout=MOST_S)
        os.close(self.master)

    def screen(self) -> list[str]:
        screen = Screen(COLUMNS)
        screen.write(self.output)
        return screen.lines()


def silent_program(plimsoll: str, folder: pathlib.Path) -> list[str]:
    """The line stands below the program's, which had no end; at the end it is gone."""
    run = Rehearsal(plimsoll, folder, [], [])
    run.read_until(re.compile(rb"plimsoll: \d+ s, .*plimsoll: \d+ s, ", re.S))  # written anew at least once
    during = run.screen()
    run.end()
    after = run.screen()
    faults = []
    if not (during[0] == "Loading ..." and re.fullmatch(r"plimsoll: \d+ s, gpu0 \d+\.?\d* MiB of 8\.00 GiB, peak \d+\.?\d* MiB", during[1])):
        faults.append(f"while it runs: {during}")
    if after[0] != "Loading ..." or any(line.startswith("plimsoll:") for line in after) or not any("completed in" in line for line in after):
        faults.append(f"at the end: {after}")
    return faults


def program_that_speaks(plimsoll: str, folder: pathlib.Path) -> list[str]:
    """What it writes after the line begins a row of its own, and is not erased."""
    run = Rehearsal(plimsoll, folder, [], ["finished: x"])
    run.read_until(LINE)
    run.end()
    lines = run.screen()
    is_good = lines[0] == "Loading ..." and lines[1].startswith("plimsoll: ") and lines[2] == "finished: x"
    return [] if is_good else [f"after the line: {lines}"]


def output_in_a_log(plimsoll: str, folder: pathlib.Path) -> list[str]:
    run = Rehearsal(plimsoll, folder, ["--log", "x.log"], ["finished: x"])
    run.read_until(LINE)
    run.end()
    lines = run.screen()
    return [f"with --log: {lines}"] if any(line.startswith("plimsoll:") for line in lines) else []


def no_line(term: str | None, *options: str):
    """A rehearsal that lasts as long as one that shows the line."""

    def check(plimsoll: str, folder: pathlib.Path) -> list[str]:
        run = Rehearsal(plimsoll, folder, list(options), [], term)
        (folder / "other").mkdir()
        other = Rehearsal(plimsoll, folder / "other", [], [])
        other.read_until(LINE)
        other.end()
        run.end()
        return [f"TERM={term} {options}: {run.output!r}"] if LINE.search(run.output) or b"\x1b[A" in run.output else []

    return check


def main() -> int:
    parser = argparse.ArgumentParser(description="The line of progress of a rehearsal.")
    parser.add_argument("--plimsoll", required=True, metavar="PROGRAM")
    plimsoll = str(pathlib.Path(parser.parse_args().plimsoll).resolve())
    checks = [silent_program, program_that_speaks, output_in_a_log, no_line("dumb"), no_line(None), no_line("xterm", "-q"),
              no_line("xterm", "--json", "--log", "y.log")]
    with tempfile.TemporaryDirectory(prefix="plimsoll-progress-") as root:
        folders = [pathlib.Path(root) / str(i) for i in range(len(checks))]
        for folder in folders:
            folder.mkdir()
        with concurrent.futures.ThreadPoolExecutor(max_workers=len(checks)) as pool:
            faults = [fault for found in pool.map(lambda pair: pair[0](plimsoll, pair[1]), zip(checks, folders)) for fault in found]
    for fault in faults:
        print(f"FAIL {fault}")
    print(f"{len(checks)} rehearsals on a terminal, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

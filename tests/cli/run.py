#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Run the cases of *.cases against the program.

    run.py --plimsoll PROGRAM [--nvml LIBRARY] [--scene-nvml LIBRARY] [--update] [NAME...]

A case is a block of lines; NAME selects cases by a part of their name, or all of one file ("fit.cases").

    == name of the case
    $ plimsoll fit llama.gguf --card 4060      the words, as a shell splits them
    sh plimsoll cards | head -1                the same through sh
    env NAME=value                             set for this case
    nvml HOW                                   the machine has the cards of tests/unit/fake_nvml.c, which acts like this;
                                               the case is left out without --nvml
    scene NAME                                 the machine of ../watch/scenes/NAME.scene, of which nothing was seen before;
                                               the case is left out without --scene-nvml
    tty                                        stdout and stderr are one terminal
    exit 1                                     the exit status; 0 without this line
    out TEXT                                   stdout contains this text
    err TEXT                                   stderr contains it
    no TEXT                                    neither contains it
    last TEXT                                  the last line of stdout, or of stderr when stdout is empty
    golden NAME                                stdout is golden/NAME; --update writes it
    json explain|fit|fits|cards|models|engines|ps|free|receipt|rehearsal|check|hollow|step|sweep|trace   stdout keeps the contract (contract.py)
    wide                                       lines may be longer than 80 columns

<esc> in a TEXT is the character that begins a colour. No case may print a character that is not shown (shown.py).

Models come from tests/gguf/make.py; the machine is a fake one of 64 GB of RAM without a GPU. The programs to rehearse
are in ../programs, seen from the models. The cases of one file run in order; files run side by side, since most cases
wait, so names of files that a case writes belong to one .cases file only.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import difflib
import json
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import tempfile

import contract
import fixture
import shown

HERE = pathlib.Path(__file__).parent
SCENES = HERE.parent / "watch" / "scenes"
sys.path.append(str(SCENES.parent))
import scene  # noqa: E402
MAX_COLUMNS = 80
TIMEOUT_S = 60
SIDE_BY_SIDE = 4  # files at a time


@dataclasses.dataclass
class Case:
    name: str
    where: str
    argv: list[str] = dataclasses.field(default_factory=list)
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    nvml: str = ""
    scene: str = ""
    tty: bool = False
    wide: bool = False
    exit: int = 0
    checks: list[tuple[str, str]] = dataclasses.field(default_factory=list)


def read_cases(path: pathlib.Path) -> list[Case]:
    cases: list[Case] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        if not line or line.startswith("#"):
            continue
        if word == "==":
            cases.append(Case(rest, f"{path.name}:{number}"))
            continue
        case = cases[-1]
        if word == "$":
            case.argv = shlex.split(rest)
        elif word == "sh":
            case.argv = ["sh", "-c", rest]
        elif word == "env":
            name, _, value = rest.partition("=")
            case.env[name] = value
        elif word in ("nvml", "scene"):
            setattr(case, word, rest)
        elif word in ("tty", "wide"):
            setattr(case, word, True)
        elif word == "exit":
            case.exit = int(rest)
        elif word in ("out", "err", "no", "last", "golden", "json"):
            case.checks.append((word, rest.replace("<esc>", "\x1b")))
        else:
            raise SystemExit(f"{path.name}:{number}: unknown word '{word}'")
    return cases


def run_on_terminal(argv: list[str], cwd: str, env: dict[str, str]) -> tuple[int, str]:
    master, slave = pty.openpty()
    process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    output = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not piece:
            break
        output += piece
    os.close(master)
    return process.wait(TIMEOUT_S), output.decode(errors="surrogateescape").replace("\r\n", "\n")


def run(case: Case, world: fixture.World, options: argparse.Namespace) -> tuple[int, str, str]:
    env = dict(world.env)
    if case.nvml:
        env |= {"PLIMSOLL_NVML": options.nvml, "FAKE_NVML": case.nvml}
    if case.scene:
        folder = pathlib.Path(world.models).parent / "scenes" / re.sub(r"\W", "-", case.where)
        scene.make(str(SCENES / (case.scene + ".scene")), str(folder))
        env |= {"PLIMSOLL_NVML": options.scene_nvml, "PLIMSOLL_SYSROOT": str(folder / "root"), "NVML_SCENE": str(folder / "nvml"),
                "XDG_STATE_HOME": str(folder / "state")}
    env |= case.env
    if case.tty:
        status, out = run_on_terminal(case.argv, world.models, env)
        return status, out, ""
    done = subprocess.run(case.argv, cwd=world.models, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
    out, err = (text.decode(errors="surrogateescape") for text in (done.stdout, done.stderr))
    return done.returncode, out, err


def without_colour(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def too_wide(text: str) -> str | None:
    """The first line over 80 columns; commands to paste may be longer, they are indented by four."""
    for line in without_colour(text).splitlines():
        if len(line) > MAX_COLUMNS and not re.match(r"    (\S*llama|env |ollama|PARAMETER|OLLAMA_)", line):
            return line
    return None


def check_golden(name: str, out: str, update: bool) -> str | None:
    path = HERE / "golden" / name
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(out)
        return None
    wanted = path.read_text() if path.exists() else ""
    if out == wanted:
        return None
    lines = difflib.unified_diff(wanted.splitlines(), out.splitlines(), f"golden/{name}", "now", lineterm="", n=1)
    return "\n".join(["differs (if that is meant: tests/cli/run.py --update)", *lines])


def check(case: Case, kind: str, text: str, out: str, err: str, update: bool) -> str | None:
    """None when the check holds, else the complaint."""
    if kind == "golden":
        return check_golden(text, out, update)
    if kind == "json":
        try:
            return contract.check(text, json.loads(out))
        except ValueError as error:
            return f"is not JSON: {error}"
    if kind == "last":
        lines = (out or err).splitlines()
        return None if lines and lines[-1] == text else f"last line is {lines[-1] if lines else ''!r}, not {text!r}"
    if kind == "no":
        return f"has {text!r}" if text in out or text in err else None
    return None if text in {"out": out, "err": err}[kind] else f"no {text!r} in std{kind}"


def failures(case: Case, world: fixture.World, options: argparse.Namespace) -> list[str]:
    status, out, err = run(case, world, options)
    found = []
    if status != case.exit:
        found.append(f"exit status {status}, not {case.exit}")
    for kind, text in case.checks:
        wrong = check(case, kind, text, out, err, options.update)
        if wrong:
            found.append(wrong)
    is_text = not case.wide and not any(kind == "json" for kind, _ in case.checks)
    wide = too_wide(out) if is_text else None
    if wide:
        found.append(f"is wider than {MAX_COLUMNS} columns: {wide}")
    if case.argv[0] == "plimsoll":
        found += [hidden for hidden in map(shown.hidden_in, (out, err)) if hidden]
    if found:
        found += [f"stdout: {line}" for line in out.splitlines()[-6:]]
        found += [f"stderr: {line}" for line in err.splitlines()[-4:]]
    return found


def is_called(case: Case, name: str) -> bool:
    return name in case.name or name == case.where.partition(":")[0]


def run_file(path: pathlib.Path, options: argparse.Namespace, world: fixture.World) -> tuple[int, list[str]]:
    """Run the chosen cases of a file, in order: their number, and a line FAIL with its details for each that fails."""
    cases = [case for case in read_cases(path) if not options.names or any(is_called(case, name) for name in options.names)]
    cases = [case for case in cases if (options.nvml or not case.nvml) and (options.scene_nvml or not case.scene)]
    complaints = []
    for case in cases:
        found = failures(case, world, options)
        complaints += [f"FAIL {case.where} {case.name}: {line}" for line in found[:1]]
        complaints += [f"     {line}" for line in found[1:]]
    return len(cases), complaints


def main() -> int:
    parser = argparse.ArgumentParser(description="Test the command line of plimsoll.")
    parser.add_argument("--plimsoll", required=True, metavar="PROGRAM")
    parser.add_argument("--nvml", default="", metavar="LIBRARY")
    parser.add_argument("--scene-nvml", default="", metavar="LIBRARY")
    parser.add_argument("--update", action="store_true", help="write the golden files anew")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    for name in ("nvml", "scene_nvml"):
        given = getattr(options, name)
        setattr(options, name, given and str(pathlib.Path(given).resolve()))
    n_run = n_failed = 0
    with tempfile.TemporaryDirectory(prefix="plimsoll-cli-") as directory:
        world = fixture.make(directory, options.plimsoll)
        with concurrent.futures.ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
            files = [pool.submit(run_file, path, options, world) for path in sorted(HERE.glob("*.cases"))]
        for file in files:
            n, complaints = file.result()
            n_run += n
            n_failed += sum(line.startswith("FAIL") for line in complaints)
            print("".join(line + "\n" for line in complaints), end="")
    print(f"{n_run - n_failed} of {n_run} cases passed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())

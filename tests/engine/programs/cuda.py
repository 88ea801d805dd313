#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
CUDA programs that are not PyTorch's, as users write them, rehearsed without a switch. Each must say what the manifest says
it says, its rehearsal must end as it says, and a card must have been used.

    cuda.py --plimsoll P --cache DIR --group GROUP [--resume FILE] [PROGRAM...]

cuda.json has an entry for each program, cuda/PROGRAM.py:
    group     the packages it needs; fetch.sh brings them to DIR/programs-GROUP
    file      of another name than the program; *.mjs is for Node. Of the group rust it is a crate, of go an input for the
              command, built there
    card      default: RTX 4090
    says      a pattern that a line of its output must match
    last      a pattern that the last line of plimsoll must match
    gate      the exit status with --gate; default: 0
    guess     the reason to pass --accept-guess; default: it is not passed
    environment   NAME: VALUE; {cache} is DIR
--resume: programs that FILE lists have passed before; those that pass are added. Default: $PLIM_RESUME.
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "cuda"))
import tiny_llama  # noqa: E402

TIMEOUT_S = 600


def command_of(cache: str, name: str, entry: dict, folder: str) -> list[str]:
    """The program gets the path of a small model, which some of them load."""
    packages, file = pathlib.Path(cache, "programs-" + entry["group"]), entry.get("file", name + ".py")
    model = os.path.join(folder, "tiny.gguf")
    if not os.path.exists(model):
        tiny_llama.write(model)
    if entry["group"] == "rust":
        return [str(packages / "release/program")]
    if entry["group"] == "go":
        return [str(packages / "program"), "-o", os.path.join(folder, "out"), str(HERE / "cuda" / file)]
    if not file.endswith(".mjs"):
        return [str(packages / "bin/python"), str(HERE / "cuda" / file), model]
    program, modules = pathlib.Path(folder, file), pathlib.Path(folder, "node_modules")
    if not modules.is_symlink():  # where Node looks for packages: beside the program
        modules.symlink_to(packages / "node_modules")
    shutil.copy(HERE / "cuda" / file, program)
    return ["node", str(program), model]


def rehearse(options: argparse.Namespace, name: str, entry: dict, folder: str) -> list[str]:
    """What is wrong."""
    receipt = os.path.join(folder, name + ".json")
    command = [options.plimsoll, "rehearse", "--card", entry.get("card", "RTX 4090"), "--until", "exit", "--gate",
               *["--accept-guess"][:"guess" in entry], "--timeout", str(TIMEOUT_S), "--receipt", receipt, "--",
               *command_of(options.cache, name, entry, folder)]
    places = {name: value.replace("{cache}", options.cache) for name, value in entry.get("environment", {}).items()}
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", **places)
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    said = done.stdout + done.stderr
    if not os.path.exists(receipt):
        return [f"no receipt: {said[-1500:]}"]
    wrong = []
    if done.returncode != entry.get("gate", 0):
        wrong.append(f"exit {done.returncode}: {said.strip()[-1500:]}")
    if not re.search(f"^{entry['says']}$", said, re.M):
        wrong.append(f"it does not say '{entry['says']}': {said.strip()[-1500:]}")
    last = [line for line in done.stderr.splitlines() if line.strip()]
    if not last or not re.search(entry["last"], last[-1]):
        wrong.append(f"the last line is '{last[-1] if last else ''}', not '{entry['last']}'")
    cards = json.loads(pathlib.Path(receipt).read_text(encoding="utf-8"))["devices"]
    wrong += [f"nothing was charged to card {i}" for i, card in enumerate(cards) if card["peak_bytes"] == 0]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all of the group")
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--cache", required=True, help="where fetch.sh put the packages")
    parser.add_argument("--group", required=True)
    parser.add_argument("--resume", metavar="FILE", default=os.environ.get("PLIM_RESUME"))
    options = parser.parse_args()
    options.plimsoll, options.cache = os.path.abspath(options.plimsoll), os.path.abspath(options.cache)
    if not os.path.exists(os.path.join(options.cache, "programs-" + options.group, "is-whole")):
        print(f"skipped: no programs-{options.group}; tests/engine/programs/fetch.sh brings it")
        return 77
    manifest = json.loads((HERE / "cuda.json").read_text(encoding="utf-8"))
    resume = pathlib.Path(options.resume) if options.resume else None
    passed = set(resume.read_text(encoding="utf-8").split()) if resume and resume.exists() else set()
    n_wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, entry in manifest.items():
            if entry["group"] != options.group or name in passed or (options.programs and name not in options.programs):
                continue
            started = time.monotonic()
            wrong = rehearse(options, name, entry, folder)
            print(f"{'FAIL' if wrong else 'ok  '}  {name:<24} {time.monotonic() - started:5.1f} s", flush=True)
            for line in wrong:
                print("      " + line.replace("\n", "\n      "), flush=True)
            n_wrong += bool(wrong)
            if resume and not wrong:
                with resume.open("a", encoding="utf-8") as file:
                    file.write(name + "\n")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Record the GGUF that llama.cpp v0.5.0 makes of configs: its own converter on a checkpoint without weights, its own
quantizer as a dry run on that. See checkpoint.py, convert.py; truth.py has the format.

    record.py --convert DIR --engine DIR --probe PROGRAM --vgpu DIR [--again] [--seed N --seconds S] [CASE...]

A case that is recorded is left alone unless --again is given: stopping and starting again goes on where it stopped.
--check runs cases again and compares instead of writing: all of them or, with --seconds, as many as fit, chosen by --seed.
Exit status: 0 all done, 1 some failed or differ, 77 the converter or the engine is not there (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import cases
import gguf_header
import truth

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
RECORDED = os.path.join(ROOT, "tests", "data", "converted")
# Recipe -> number of enum llama_ftype; whether it is made with an importance matrix.
RECIPES = {"Q8_0": (7, False), "Q5_K_S": (16, False), "Q4_K_M": (15, False), "IQ4_XS": (30, False), "IQ3_XXS": (23, True)}


class Failed(Exception):
    pass


class Server:
    """A program of this folder in the converter's Python, loaded at its first run."""

    def __init__(self, options: argparse.Namespace, program: str, *arguments: str, path: str = "") -> None:
        python = os.path.join(options.convert, "py", "bin", "python")
        self.program = program
        self.command = [python, os.path.join(HERE, "serve.py"), program, *arguments]
        self.environment = {**os.environ, "LD_LIBRARY_PATH": options.vgpu, "HF_HUB_OFFLINE": "1", "PYTHONPATH": path}
        self.process: subprocess.Popen | None = None

    def run(self, *arguments: str) -> None:
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=pipe, stdout=pipe, text=True)
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise Failed(f"{self.program}: it does not start")
        status, last = json.loads(answer)
        if status:
            raise Failed(f"{self.program}: {last[:160]}")


class Tools:
    def __init__(self, options: argparse.Namespace) -> None:
        newer = os.path.join(options.convert, "transformers-5")
        self.options = options
        self.checkpoint = {4: Server(options, "checkpoint"), 5: Server(options, "checkpoint", path=newer)}
        self.checkpoint[0] = self.checkpoint[4]
        self.convert = Server(options, "convert", os.path.join(options.convert, "llama.cpp"))


def quantize(options: argparse.Namespace, path: str, recipes=tuple(RECIPES), output: str = "") -> dict[str, dict[str, str]]:
    """What the quantizer decides, recipe by recipe; it writes the last one to `output`, if that is given."""
    types: dict[str, dict[str, str]] = {}
    for imatrix in (False, True):
        ftypes = {str(number): name for name, (number, needs) in RECIPES.items()
                  if needs == imatrix and name in recipes}
        if not ftypes:
            continue
        flags = (["--imatrix"] if imatrix else []) + (["--write", output] if output else [])
        command = [options.probe, options.engine, path, *flags, *ftypes]
        environment = {**os.environ, "LD_LIBRARY_PATH": options.engine}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"quantizer: {done.stderr.strip()}")
        for line in done.stdout.splitlines():
            number, tensor, dtype = line.split("\t")
            if tensor == "-":
                raise Failed(f"quantizer: {dtype}")
            types.setdefault(ftypes[number], {})[tensor] = dtype
    return {name: types[name] for name in RECIPES if name in types}


def make(tools: Tools, case: cases.Case, settings: dict, folder: str) -> truth.Truth:
    """What becomes of the case's settings (its config)."""
    checkpoint, output = os.path.join(folder, "checkpoint"), os.path.join(folder, "out.gguf")
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(settings, file)
    tools.checkpoint[case.transformers].run(config, checkpoint)
    tools.convert.run(checkpoint, "--outfile", output, *case.options)
    keys, tensors = gguf_header.read(output)
    found = truth.Truth(case.notes(), settings, case.options)
    found.keys = {name: key for name, key in keys.items() if not truth.IGNORED.match(name)}
    found.n_tokens = len(keys["tokenizer.ggml.tokens"].value) if "tokenizer.ggml.tokens" in keys else 0
    found.tensors = tensors
    if "--mmproj" not in case.options:
        found.types = quantize(tools.options, output)
    return found


def path_of(case: cases.Case) -> str:
    return os.path.join(RECORDED, case.name + ".txt")


def do(tools: Tools, case: cases.Case) -> str:
    """Record or check a case; what is wrong, in words ("" for nothing). A recorded config is checked as recorded."""
    recorded = None
    if tools.options.check:
        with open(path_of(case), encoding="utf-8") as file:
            recorded = truth.load(file.read())
    with tempfile.TemporaryDirectory(prefix="converted-") as folder:
        try:
            found = make(tools, case, recorded.config if recorded else cases.without_notes(case.config()), folder)
        except (Failed, FileNotFoundError) as error:
            return str(error)
    if recorded:
        found.notes = recorded.notes
        return "" if truth.dump(found) == truth.dump(recorded) else "differs from what is recorded"
    text = truth.dump(found)
    if truth.dump(truth.load(text)) != text:
        return "the text does not say what was found"
    with open(path_of(case), "w", encoding="utf-8") as file:
        file.write(text)
    return ""


def chosen(options: argparse.Namespace) -> list[cases.Case]:
    found = [case for case in cases.read() if not options.cases or case.name in options.cases]
    if options.check:
        found = [case for case in found if os.path.exists(path_of(case))]
        random.Random(options.seed).shuffle(found)
    elif not options.again:
        found = [case for case in found if not os.path.exists(path_of(case))]
    return found


def is_there(options: argparse.Namespace) -> bool:
    if os.path.exists(os.path.join(options.convert, "is-whole")) and os.path.isdir(options.engine):
        return True
    print("skipped: no converter or no engine; tests/engine/convert/fetch.sh and tests/engine/fetch.sh bring them")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description="Record what llama.cpp's converter and quantizer make of configs.")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--convert", required=True, help="folder that fetch.sh made")
    parser.add_argument("--engine", required=True, help="folder of llama.cpp's libraries")
    parser.add_argument("--probe", required=True, help="quant_probe")
    parser.add_argument("--vgpu", required=True, help="folder of the virtual GPU's libraries")
    parser.add_argument("--again", action="store_true", help="also what is recorded")
    parser.add_argument("--check", action="store_true", help="compare with what is recorded")
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400, help="default: the day")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after this time")
    options = parser.parse_args()
    if not is_there(options):
        return 77
    tools = Tools(options)
    start, n, n_bad = time.monotonic(), 0, 0
    for case in chosen(options):
        if time.monotonic() - start > options.seconds:
            break
        n += 1
        wrong = do(tools, case)
        if wrong:
            n_bad += 1
        print(f"{'FAILED' if wrong else 'ok'} {case.name}: {wrong}" if wrong else f"ok {case.name}", flush=True)
    print(f"seed {options.seed}: {n} configs, {n - n_bad} {'as recorded' if options.check else 'recorded'}, {n_bad} not")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())

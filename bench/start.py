#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
From the start of a process to its verdict: plimsoll beside other readers of GGUF files, on an 8B model with its whole
vocabulary and merges, in one run. The runs take turns, so that what else the machine does falls on all of them.

The others are downloaded: gguf-parser by the Go tool, gguf by pip. A reader that is not available is left out, with the
reason. They do less than plimsoll, or something a little different; the output says what.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

MODEL = "llama-3.1-8b"
GGUF_PARSER = "v0.26.3"
GGUF_PYTHON = "0.19.0"
CTX = "32768"
MOST_MS = 3
MOST_MIB = 16
FEWEST_RUNS = 3  # of what takes seconds
ENOUGH_MS = 20e3

READ_HEADER = "import sys; from gguf import GGUFReader; GGUFReader(sys.argv[1])"


class Missing(Exception):
    """Another reader that is not available here."""


def call(command, **options):
    """Run a preparation; its last line of output is the reason when it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                              check=False, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(str(error)) from error
    if done.returncode:
        lines = done.stdout.strip().splitlines() or ["it failed without a word"]
        raise Missing(lines[-1])


def make_model(source, folder):
    """The 8B model: as many tokens and merges as the original has, and data that takes no disk."""
    folder = os.path.join(folder, "model")
    call([sys.executable, os.path.join(source, "tests", "gguf", "make.py"), "--vocab", "full", "-o", folder, MODEL])
    return os.path.join(folder, os.listdir(folder)[0])


def install_program(folder):
    """gguf-parser itself, by `go install`."""
    program = os.path.join(folder, "gguf-parser")
    if not os.path.exists(program):
        call(["go", "install", f"github.com/gpustack/gguf-parser-go/cmd/gguf-parser@{GGUF_PARSER}"],
             env={**os.environ, "GOBIN": folder})
    return program


def build_on_library(source, folder):
    """What gguf-parser does with a local file, on its own library: for where the program is not to be had."""
    program = os.path.join(folder, "gguf-parser-library")
    if not os.path.exists(program):
        work = os.path.join(folder, "gguf-parser-source")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        shutil.copy(os.path.join(source, "bench", "gguf_parser.go"), os.path.join(work, "main.go"))
        call(["go", "mod", "init", "bench"], cwd=work)
        call(["go", "get", f"github.com/gpustack/gguf-parser-go@{GGUF_PARSER}"], cwd=work)
        call(["go", "build", "-o", program, "."], cwd=work)
    return program


def gguf_parser(source, folder, model):
    if not shutil.which("go"):
        raise Missing("the Go tool is not installed")
    try:
        program = install_program(folder)
        return (f"gguf-parser {GGUF_PARSER}", "estimate for -c 32768 as JSON",
                [program, "--path", model, "--ctx-size", CTX, "--json"])
    except Missing as reason:
        print(f"the program gguf-parser cannot be installed, so its library stands in for it: {reason}")
        program = build_on_library(source, folder)
        return (f"gguf-parser {GGUF_PARSER}", "its library: header and estimate for -c 32768 as JSON", [program, model])


def gguf_python(folder, model):
    venv = os.path.join(folder, "python")
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(os.path.join(venv, "ready")):
        call([sys.executable, "-m", "venv", venv])
        call([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"gguf=={GGUF_PYTHON}"])
        open(os.path.join(venv, "ready"), "w", encoding="utf-8").close()
    return (f"Python gguf {GGUF_PYTHON}", "GGUFReader(file): the header, no estimate", [python, "-c", READ_HEADER, model])


class Contender:
    """A command, its times and its largest resident set."""

    def __init__(self, name, what, command):
        self.name, self.what, self.command = name, what, command
        self.wall_ms, self.rss_kib = [], 0

    def run(self, stopwatch):
        if len(self.wall_ms) >= FEWEST_RUNS and sum(self.wall_ms) > ENOUGH_MS:
            return
        done = subprocess.run([stopwatch, *self.command], stdout=subprocess.PIPE, text=True, check=True)
        status, wall_ms, rss_kib = done.stdout.split()
        if status not in ("0", "1"):  # 1: plimsoll's "does not fit"
            raise SystemExit(f"{self.name} ended with {status}")
        self.wall_ms.append(float(wall_ms))
        self.rss_kib = max(self.rss_kib, int(rss_kib))

    def row(self, base):
        least, median = min(self.wall_ms), statistics.median(self.wall_ms)
        ratio = f"{median / statistics.median(base.wall_ms):.1f} x"
        return [self.name, self.what, str(len(self.wall_ms)), f"{least:.1f}", f"{median:.1f}", f"{self.rss_kib / 1024:.1f}", ratio]


def contenders(arguments, folder, model):
    """plimsoll twice, its start alone, then the readers that are available."""
    fit = [arguments.plimsoll, "fit", model, "--ctx-size", CTX, "--json", "--card"]
    yield Contender("plimsoll fit", "bill and verdict: fits an RTX 4090", fit + ["RTX 4090"])
    yield Contender("plimsoll fit", "the same and what to change: too large for an RTX 4060", fit + ["RTX 4060"])
    yield Contender("plimsoll --version", "the start of the process alone", [arguments.plimsoll, "--version"])
    for peer in (lambda: gguf_parser(arguments.source, folder, model), lambda: gguf_python(folder, model)):
        try:
            yield Contender(*peer())
        except Missing as reason:
            print(f"left out: {reason}")


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    return found[1] if found else "unknown CPU"


def table(rows):
    head = ["", "what it does", "runs", "min ms", "median ms", "peak RSS MiB", "time"]
    rule = ["---", "---", *["---:"] * (len(head) - 2)]
    lines = ["| " + " | ".join(row) + " |" for row in [head, rule, *rows]]
    return "\n".join(lines)


def bills(program, model):
    done = subprocess.run([program, model], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.rstrip()


def write_page(path, text):
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new = re.sub(r"(<!-- bench:begin -->\n).*?(<!-- bench:end -->)", lambda m: m[1] + text + "\n" + m[2], old, flags=re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--plimsoll", required=True, help="the program")
    parser.add_argument("--stopwatch", required=True, help="the program that times another")
    parser.add_argument("--bills", required=True, help="the program that counts bills per second")
    parser.add_argument("--source", default=".", help="the source tree")
    parser.add_argument("--work", required=True, help="where the model and the others go")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--page", help="write the tables between this page's bench markers")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.work)
    os.makedirs(folder, exist_ok=True)
    model = make_model(arguments.source, folder)
    runners = list(contenders(arguments, folder, model))
    runners[0].run(arguments.stopwatch)  # fills the page cache
    runners[0].wall_ms.clear()
    for _ in range(arguments.runs):
        for runner in runners:
            runner.run(arguments.stopwatch)
    plimsoll = runners[0]
    title = (f"{cpu_name()}, {time.strftime('%Y-%m-%d')}. Start to verdict, by turns and with a warm page cache, of an 8B\n"
             f"model with a vocabulary of 128 256 tokens and its merges ({MODEL}):")
    text = (f"{title}\n\n{table([r.row(plimsoll) for r in runners])}\n\n"
            f"Bills on one core, of the same model once it is read:\n\n```\n{bills(arguments.bills, model)}\n```")
    print(text)
    if arguments.page:
        write_page(arguments.page, text)
    within = all(statistics.median(r.wall_ms) <= MOST_MS and r.rss_kib <= MOST_MIB * 1024 for r in runners[:2])
    print(f"\n{MOST_MS} ms and {MOST_MIB} MiB: {'kept' if within else 'NOT kept'} by the medians of plimsoll")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Run every example of the documentation: run_examples.py --plimsoll PROGRAM --zoo DIR [--update] FILE|DIRECTORY...

In Markdown, a block marked "console" holds commands after "$ " and, below each, what it prints; a command without output
is only run. In a manual page (.scd), every line of a block is a command. A program in C ("c" block with a main) is compiled
against the library and run (--library, --cc). What is shown must be what is printed; --update writes it into the Markdown.
Of a directory, every page is read (.md, .scd), those of its folders as well.

Examples run in a scratch directory with the bundled sample and stand-ins from the zoo, on a pretended machine with 32 GB
of RAM and without a GPU; those of the commands about processes on the machine of a scene, with the NVML of --scene-nvml.
A command must end with 0 or 1: yes or no.
"""
import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import step_file  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SAMPLE = "Llama-3.1-8B-Instruct-Q4_K_M.gguf"
# What an example may name: file in the scratch directory, file of the zoo (None: the sample).
STAND_INS = {
    "model.gguf": None,
    "models/Llama-3.1-8B-Instruct-Q4_K_M.gguf": None,
    "models/Qwen3-30B-A3B-Q4_K_M.gguf": "qwen3-30b-a3b-Q4_K_M.gguf",
    "models/gemma-3-12b-it-Q4_K_M.gguf": "gemma-3-12b-Q4_K_M.gguf",
    "models/Llama-3.2-3B-Instruct-Q4_K_M.gguf": "llama-3.2-3b-Q4_K_M.gguf",
    "Llama-3.3-70B-Instruct-Q4_K_M.gguf": "llama-3.3-70b-Q4_K_M.gguf",
    "gemma-3-12b-it-Q4_K_M.gguf": "gemma-3-12b-Q4_K_M.gguf",
    "Qwen3-30B-A3B-Q4_K_M.gguf": "qwen3-30b-a3b-Q4_K_M.gguf",
}
SCENE = os.path.join(ROOT, "tests", "watch", "scenes", "shared-server.scene")
OF_A_SCENE = ("ps", "free")  # commands
LOG = os.path.join(ROOT, "tests", "cli", "logs", "llama-8b.log")
RECEIPT = os.path.join(ROOT, "tests", "cli", "logs", "rehearsal.json")
SNAPSHOTS = os.path.join(ROOT, "tests", "data", "traces")
CRASH = os.path.join(ROOT, "tests", "cli", "logs", "crash", "pytorch.log")
CONFIG = {"architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", "hidden_size": 4096, "intermediate_size": 14336,
          "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256}
MEMINFO = "MemTotal:       32768000 kB\nMemFree:        20000000 kB\nMemAvailable:   28000000 kB\n"


class Place:
    """The scratch directory, and how a command is run in it."""

    def __init__(self, options):
        self.options = options
        self.directory = tempfile.mkdtemp(prefix="plimsoll-docs-")
        os.makedirs(os.path.join(self.directory, "root", "proc"))
        with open(os.path.join(self.directory, "root", "proc", "meminfo"), "w", encoding="utf-8") as file:
            file.write(MEMINFO)
        subprocess.run(["sh", os.path.join(ROOT, "tools", "sample.sh"), self.directory], check=True, stdout=subprocess.DEVNULL)
        for name, stand_in in STAND_INS.items():
            path = os.path.join(self.directory, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            target = os.path.join(options.zoo, stand_in) if stand_in else os.path.join(self.directory, SAMPLE)
            if not os.path.exists(target):
                sys.exit(f"{target} is missing: make it with tests/gguf/make.py")
            os.symlink(target, path)
        os.makedirs(os.path.join(self.directory, "Llama-3.1-8B"))
        with open(os.path.join(self.directory, "Llama-3.1-8B", "config.json"), "w", encoding="utf-8") as file:
            json.dump(CONFIG, file)
        self.environment = {key: os.environ[key] for key in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS") if key in os.environ}
        self.environment |= {"PLIMSOLL_SYSROOT": os.path.join(self.directory, "root"),
                             "PLIMSOLL_NVML": os.path.join(self.directory, "no-such-library.so"), "LC_ALL": "C.UTF-8"}

        scene = os.path.join(self.directory, "scene")
        if options.scene_nvml:
            subprocess.run([sys.executable, os.path.join(ROOT, "tests", "watch", "scene.py"), SCENE, scene], check=True)
        self.scene = {"PLIMSOLL_SYSROOT": os.path.join(scene, "root"), "PLIMSOLL_NVML": os.path.abspath(options.scene_nvml),
                      "NVML_SCENE": os.path.join(scene, "nvml"), "XDG_STATE_HOME": os.path.join(scene, "state")}
        shutil.copy(LOG, os.path.join(self.directory, "llama-server.log"))
        shutil.copy(RECEIPT, os.path.join(self.directory, "receipt.json"))
        with open(os.path.join(self.directory, "run.step"), "wb") as file:
            file.write(step_file.encode(step_file.training()))
        snapshots = {"snapshot": "train-2.15", "before": "train-2.15", "after": "train-more-2.15"}
        for name, snapshot in (snapshots | {f"rank{rank}": "train-2.15" for rank in range(4)}).items():
            shutil.copy(os.path.join(SNAPSHOTS, snapshot + ".pickle"), os.path.join(self.directory, name + ".pickle"))
        shutil.copy(CRASH, os.path.join(self.directory, "crash.log"))
        for name in ("contexts", "train"):
            with open(os.path.join(self.directory, name + ".sweep"), "w", encoding="utf-8") as file:
                file.write(sweep_of_the_page(name))
        with open(os.path.join(self.directory, "bill.json"), "w", encoding="utf-8") as file:
            file.write(self.run("plimsoll fit --json model.gguf --card 'RTX 4080' -c 8192")[1])

    def run(self, command):
        """Status and output of one line."""
        words = shlex.split(command, comments=True)
        if words[0] == "plimsoll":
            words[0] = self.options.plimsoll
        shutil.rmtree(os.path.join(self.directory, "hollow"), ignore_errors=True)  # what the example before may have written
        environment = self.environment | (self.scene if words[1:2] and words[1] in OF_A_SCENE else {})
        done = subprocess.run(words, cwd=self.directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=60)
        return done.returncode, done.stdout

    def compile(self, source):
        with open(os.path.join(self.directory, "example.c"), "w", encoding="utf-8") as file:
            file.write(source)
        command = [*shlex.split(self.options.cc), "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(ROOT, "include"),
                   "example.c", *self.options.library, "-o", "example"]
        return subprocess.run(command, cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def remove(self):
        shutil.rmtree(self.directory)


def sweep_of_the_page(name):
    """The block of docs/sweep.md that begins with "# NAME.sweep"."""
    with open(os.path.join(ROOT, "docs", "sweep.md"), encoding="utf-8") as file:
        return re.search(rf"^```\n(# {name}\.sweep.*?)^```$", file.read(), re.M | re.S)[1]


def blocks(text):
    """(language, first line, lines) of every fenced block."""
    language, start, lines = None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if language is None:
                language, start, lines = line[3:].strip(), number + 1, []
            else:
                yield language, start, lines
                language = None
        elif language is not None:
            lines.append(line)


def commands(lines):
    """(line within the block, command, shown output) of a console block."""
    found = []
    for number, line in enumerate(lines):
        if line.startswith("$ "):
            found.append([number, line[2:], []])
        elif found:
            found[-1][2].append(line)
    return found


def fields(value):
    """Names of all fields in a document."""
    if isinstance(value, dict):
        return set(value) | {name for member in value.values() for name in fields(member)}
    if isinstance(value, list):
        return {name for member in value for name in fields(member)}
    return set()


def is_ours(command):
    return command.startswith(("plimsoll ", "./example"))


def is_whole(command):
    """True for a command of a manual or a help text that runs here: it ends, and needs no terminal, no other program and no file."""
    return is_ours(command) and not any(mark in command for mark in (" rehearse ", " --record ", " top", " --follow ", " --python ", " < "))


def pages(paths):
    """The files among the paths, and every page of the directories."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith((".md", ".scd")))


class Checker:
    def __init__(self, options):
        self.options, self.place, self.n, self.failures = options, Place(options), 0, []

    def fail(self, where, message):
        self.failures.append(f"{where}: {message}")

    def run(self, where, command):
        self.n += 1
        status, output = self.place.run(command)
        if status not in (0, 1):
            self.fail(where, f"'{command}' ended with {status}\n{output}")
        return output.rstrip("\n").split("\n") if output.strip() else []

    def check_c(self, path, start, lines):
        if not self.options.library:
            return
        self.n += 1
        done = self.place.compile("\n".join(lines) + "\n")
        if done.returncode:
            self.fail(f"{path}:{start}", f"does not compile\n{done.stdout}")

    def check_console(self, path, start, lines):
        """Returns the block as it should be."""
        fresh = lines[: commands(lines)[0][0]] if commands(lines) else list(lines)
        for number, command, shown in commands(lines):
            fresh.append("$ " + command)
            if not is_ours(command) or (command.startswith("./example") and not self.options.library):
                fresh += shown
                continue
            printed = self.run(f"{path}:{start + number}", command)
            blanks = shown[len("\n".join(shown).rstrip("\n").split("\n")):] if any(shown) else shown
            if any(shown) and printed != [line for line in "\n".join(shown).rstrip("\n").split("\n")]:
                fresh += printed + blanks
                if not self.options.update:
                    difference = difflib.unified_diff(shown, printed, "shown", "printed", lineterm="")
                    self.fail(f"{path}:{start + number}", f"'{command}' prints something else\n" + "\n".join(difference))
            else:
                fresh += shown
        return fresh

    def markdown(self, path, text):
        lines = text.splitlines()
        for language, start, block in reversed(list(blocks(text))):
            if language == "c" and any("main(" in line for line in block):
                self.check_c(path, start, block)
        for language, start, block in reversed(list(blocks(text))):
            if language == "console":
                lines[start - 1:start - 1 + len(block)] = self.check_console(path, start, block)
        return "\n".join(lines) + "\n"

    def manual(self, path, text):
        for _, start, block in blocks(text):
            for number, line in enumerate(block):
                if is_whole(line):
                    self.run(f"{path}:{start + number}", line)

    def help(self):
        listed = self.place.run("plimsoll --help")[1].partition("\ncommands:\n")[2].partition("\n\n")[0]
        for command in (line.split()[0] for line in listed.splitlines()):
            if not os.path.exists(os.path.join(ROOT, "man", f"plimsoll-{command}.1.scd")):
                self.fail(f"plimsoll {command}", "has no manual page")
            text = self.place.run(f"plimsoll {command} --help")[1]
            for line in text[text.find("\nexamples:"):].splitlines():
                if is_whole(line.strip()):
                    self.run(f"plimsoll {command} --help", line.strip())

    def json_fields(self, path, text):
        """Every field that a documented document has is named in the page."""
        for number, line in enumerate(text.splitlines(), 1):
            if not line.startswith("$ plimsoll") or "--json" not in line:
                continue
            self.n += 1
            try:
                document = json.loads(self.place.run(line[2:])[1])
            except ValueError as error:
                self.fail(f"{path}:{number}", f"no JSON: {error}")
                continue
            missing = sorted(field for field in fields(document) if f"`{field}`" not in text)
            if missing:
                self.fail(f"{path}:{number}", f"fields that the page does not name: {', '.join(missing)}")

    def file(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        name = os.path.relpath(path, ROOT)
        if path.endswith(".scd"):
            self.manual(name, text)
            return
        self.json_fields(name, text)
        fresh = self.markdown(name, text)
        if self.options.update and fresh != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(fresh)
            print(f"{name}: brought up to date")


def main():
    parser = argparse.ArgumentParser(description="Run the examples of the documentation.")
    parser.add_argument("--plimsoll", required=True, metavar="PROGRAM")
    parser.add_argument("--zoo", required=True, metavar="DIR")
    parser.add_argument("--scene-nvml", default="", metavar="LIBRARY", help="NVML of a scene (tests/watch/nvml_scene.c)")
    parser.add_argument("--library", action="append", default=[], metavar="ARGUMENT", help="what examples in C are linked with")
    parser.add_argument("--cc", default="cc", metavar="COMMAND")
    parser.add_argument("--update", action="store_true", help="write what is printed into the files")
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    options.plimsoll, options.zoo = os.path.abspath(options.plimsoll), os.path.abspath(options.zoo)
    options.library = [os.path.abspath(item) if os.path.exists(item) else item for item in options.library]
    checker = Checker(options)
    try:
        for path in pages(options.pages):
            checker.file(path)
        checker.help()
    finally:
        checker.place.remove()
    print("\n\n".join(checker.failures) if checker.failures else f"{checker.n} examples")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())

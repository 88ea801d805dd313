#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
From the start of a process to its verdict: plimsoll beside other readers of GGUF files, on an 8B model with its whole
vocabulary and merges, in one run. The runs take turns, so that what else the machine does falls on all of them.

The others are downloaded: gguf-parser by the Go tool, gguf by pip. A reader that is not available is left out, with the
reason. They do less than plimsoll, or something a little different; the output says what.
"""
import os
import subprocess
import sys

import beside
import peers

MODEL = "llama-3.1-8b"
CTX = 32768
MOST_MS = 3
MOST_MIB = 16


def make_model(source, folder):
    """The 8B model: as many tokens and merges as the original has, and data that takes no disk."""
    folder = os.path.join(folder, "model")
    beside.call([sys.executable, os.path.join(source, "tests", "gguf", "make.py"), "--vocab", "full", "-o", folder, MODEL])
    return os.path.join(folder, os.listdir(folder)[0])


def contenders(arguments, model):
    """plimsoll twice, its start alone, then the readers that are available."""
    fit = [arguments.plimsoll, "fit", model, "--ctx-size", str(CTX), "--json", "--card"]
    yield beside.Contender("plimsoll fit", "bill and verdict: fits an RTX 4090", fit + ["RTX 4090"])
    yield beside.Contender("plimsoll fit", "the same and what to change: too large for an RTX 4060", fit + ["RTX 4060"])
    yield beside.Contender("plimsoll --version", "the start of the process alone", [arguments.plimsoll, "--version"])
    yield from beside.available([lambda: peers.gguf_parser(arguments.source, arguments.peers, model, CTX),
                                 lambda: peers.gguf_python(arguments.peers, model)])


def bills(program, model):
    done = subprocess.run([program, model], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.rstrip()


def main():
    parser = beside.parser(__doc__)
    parser.add_argument("--bills", required=True, help="the program that counts bills per second")
    arguments = beside.parse(parser)
    model = make_model(arguments.source, arguments.work)
    runners = list(contenders(arguments, model))
    beside.by_turns(runners, arguments.stopwatch, arguments.runs)
    title = (f"{beside.machine_and_date()}. Start to verdict, by turns and with a warm page cache, of an 8B\n"
             f"model with a vocabulary of 128 256 tokens and its merges ({MODEL}):")
    text = (f"{title}\n\n{beside.table(runners)}\n\n"
            f"Bills on one core, of the same model once it is read:\n\n```\n{bills(arguments.bills, model)}\n```")
    print(text)
    if arguments.page:
        beside.write_page(arguments.page, "bench", text)
    beside.judge("start to verdict", runners[:2], MOST_MS, MOST_MIB)


if __name__ == "__main__":
    main()

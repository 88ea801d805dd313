#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A large snapshot of PyTorch's memory: plimsoll trace beside Python's pickle and PyTorch's own memory_viz, by turns.

The others do less: pickle only reads, trace_plot packs the snapshot into a page whose work begins in a browser, trace lists
the entries, pt-snap (a program of PyPI) makes a database and reads the peak from it. No PyTorch is imported: memory_viz is
run as the script that it also is.
"""
import glob
import os
import re
import subprocess
import sys

import beside
import peers
import trace_make

STEPS = 500
LEAST_MB_PER_S, MOST_RATIO_OF_RAM, LEAST_EVENTS = 250, 1.5, 10  # 1 GB in 4 s; million events/s


def contenders(arguments, snapshot):
    page = os.path.join(arguments.work, "page.html")
    viz = glob.glob(os.path.join(arguments.venv, "lib", "python3*", "site-packages", "torch", "cuda", "_memory_viz.py"))
    yield beside.Contender("plimsoll trace", "reads; peak, its holders, end; replays every event", [arguments.plimsoll, "trace", snapshot])
    yield beside.Contender("plimsoll trace", "the same under other settings", [arguments.plimsoll, "trace", snapshot, "--replay",
                                                                             "expandable_segments:True"])
    yield beside.Contender("Python pickle", "pickle.load: reads", [sys.executable, "-c", f"import pickle; pickle.load(open({snapshot!r}, 'rb'))"])
    if not viz:
        print(f"left out: memory_viz is not in {arguments.venv}")
        return
    yield beside.Contender("memory_viz trace_plot", "reads, packs a page for a browser", [sys.executable, viz[0], "trace_plot", snapshot, "-o", page])
    yield beside.Contender("memory_viz trace", "reads, lists the entries", [sys.executable, viz[0], "trace", snapshot])


def judge(best, mb, events):
    speed, ram = mb / min(best.cpu_ms) * 1e3, best.rss_kib * 1024 / 1e6 / mb
    for what, kept in [(f"{LEAST_MB_PER_S} MB/s of processor time: {speed:.0f} at best", speed >= LEAST_MB_PER_S),
                       (f"at most {MOST_RATIO_OF_RAM} x the file's size of memory: {ram:.2f} x", ram <= MOST_RATIO_OF_RAM),
                       (f"{LEAST_EVENTS} million events/s under default settings: {events:.1f}", events >= LEAST_EVENTS)]:
        print(f"{what}, {'kept' if kept else 'NOT kept'}")


def main():
    parser = beside.parser(__doc__)
    parser.add_argument("--replay", required=True, help="the program that counts events per second")
    parser.add_argument("--venv", help="where PyTorch is (the source tree's .cache/torch)")
    arguments = beside.parse(parser)
    arguments.venv = os.path.abspath(arguments.venv or os.path.join(arguments.source, ".cache", "torch"))
    snapshot = os.path.join(arguments.work, "large.pickle")
    trace_make.main(STEPS, snapshot)
    mb = os.path.getsize(snapshot) / 1e6
    counted = subprocess.run([arguments.plimsoll, "trace", snapshot], stdout=subprocess.PIPE, text=True, check=True).stdout
    entries = int(re.search(r"(\d+) entries", counted)[1])
    changes = re.search(r"(\d+) of (\d+) changes", counted)
    if changes[1] != changes[2]:
        raise SystemExit(f"the replay does not meet the snapshot of the bench: {changes[0]}")
    runners = list(contenders(arguments, snapshot))
    beside.by_turns(runners, arguments.stopwatch, arguments.runs)
    slow = list(beside.available([lambda: peers.pt_snap(arguments.peers, snapshot)]))
    for runner in slow:
        runner.run(arguments.stopwatch)  # once: it takes half a minute and more
    runners += slow
    rates = subprocess.run([arguments.replay, snapshot], stdout=subprocess.PIPE, text=True, check=True).stdout
    for path in glob.glob(f"{snapshot}*"):
        os.remove(path)
    text = (f"{beside.machine_and_date()}. A snapshot of {mb:.0f} MB with {entries} entries:\n\n{beside.table(runners)}\n\n"
            f"Events of it through the allocator, on one core:\n\n```\n{rates}```")
    print(text)
    if arguments.page:
        beside.write_page(arguments.page, "trace", text)
    print()
    judge(runners[0], mb, float(rates.split()[0]))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`plimsoll explain` over a log that shows nothing and one that is full of failures, beside `grep -E` with the same anchors
in the same run, taking turns; and its memory over a stream of 10 GB.

MB/s are those of the processor time of one core. grep -c stops at the first anchor of a line and counts lines; grep -o
finds every anchor, which is nearer to what a diagnosis needs. Neither reads a figure.
"""
import argparse
import glob
import os
import re
import resource
import statistics
import subprocess
import sys

import explain_make

MIB = 256
STREAM_BYTES = 10 * 10**9
RUNS = 5
FEWEST = {"quiet": 400, "dense": 150}  # MB/s
MOST_MIB = 16
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C"}


def anchors(source):
    """Every anchor of the table, as one expression for grep -E."""
    found = set()
    for path in glob.glob(os.path.join(source, "data", "errors", "*.patterns")):
        with open(path, encoding="utf-8") as file:
            found |= {match[1].strip() for match in re.finditer(r"^\s+anchor\s+(.+)$", file.read(), re.M)}
    return "|".join(re.sub(r"([][\\.*^$+?(){}|])", r"\\\1", anchor) for anchor in sorted(found)), len(found)


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.devnull, "wb") as nowhere, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=nowhere, env=ENVIRONMENT) as child:
        while child.stdout.read(1 << 20): # a pipe: grep does nothing for /dev/null
            pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def speeds(a, work):
    expression, n = anchors(a.source)
    patterns = os.path.join(work, "anchors")
    with open(patterns, "w", encoding="utf-8") as file:
        file.write(expression + "\n")
    print(f"{n} anchors, {MIB} MiB, median of {RUNS} runs, MB/s of processor time")
    result = {}
    for kind in FEWEST:
        log = os.path.join(work, kind + ".log")
        if not os.path.exists(log) or os.path.getsize(log) != MIB << 20:
            explain_make.main(kind, MIB, log)
        commands = {"plimsoll explain": [a.plimsoll, "explain", log], "grep -E -c": ["grep", "-E", "-c", "-f", patterns, log],
                    "grep -E -o": ["grep", "-E", "-o", "-f", patterns, log]}
        times = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                times[name].append(cpu_seconds(command))
        for name, list_ in times.items():
            result[kind, name] = (MIB << 20) / 1e6 / statistics.median(list_)
            print(f"  {kind:6} {name:17} {result[kind, name]:7.0f}")
    return result


def stream(a):
    """The peak of memory over a stream, in MiB."""
    block = b"".join(open(os.path.join(a.work, kind + ".log"), "rb").read(8 << 20) for kind in FEWEST)
    with subprocess.Popen([a.stopwatch, a.plimsoll, "explain", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False,
                          env=ENVIRONMENT) as child:
        for _ in range(STREAM_BYTES // len(block) + 1):
            child.stdin.write(block)
        child.stdin.close()
        _, wall_ms, peak_kib, _ = child.stdout.read().split()
    print(f"  a stream of {STREAM_BYTES / 1e9:.0f} GB: {int(peak_kib) / 1024:.1f} MiB at most, {float(wall_ms) / 1e3:.0f} s")
    return int(peak_kib) / 1024


def main():
    parser = argparse.ArgumentParser()
    for name in ("plimsoll", "stopwatch", "source", "work"):
        parser.add_argument("--" + name, required=True)
    a = parser.parse_args()
    os.makedirs(a.work, exist_ok=True)
    result = speeds(a, a.work)
    peak_mib = stream(a)
    slow = [kind for kind, least in FEWEST.items() if result[kind, "plimsoll explain"] < least]
    slow += [f"{kind}, beside {grep}" for kind, grep in (("quiet", "grep -E -c"), ("dense", "grep -E -o"))
             if result[kind, "plimsoll explain"] < result[kind, grep]]
    for kind in slow:
        print(f"too slow: {kind}")
    if peak_mib > MOST_MIB:
        print(f"too much memory: {peak_mib:.1f} MiB")
    return 1 if slow or peak_mib > MOST_MIB else 0


if __name__ == "__main__":
    sys.exit(main())

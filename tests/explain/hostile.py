#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What `plimsoll explain` takes for logs that are made to take long: hostile.py PLIMSOLL HOSTILE_LOG STOPWATCH [--sizes N,...]
[--seeds N,...] [--log FILE ...] [--results FILE]

ninja -C build tests/explain/hostile_log bench/stopwatch: these write the logs and measure memory. 1 MB may take 3 s of processor
time, 100 MB 60 s, both 16 MiB. With --results, what a run before has measured is not measured again, so a run that was stopped
goes on; the file has a line of JSON for each log. Not a part of `make test`, which counts steps instead (tests/unit/test_budget.c).
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

MOST_SECONDS = {10**6: 3, 10**8: 60}  # up to these sizes
MOST_MIB = 16


def measure(a, path):
    with tempfile.NamedTemporaryFile() as out:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run([a.stopwatch, "/bin/sh", "-c", 'exec "$0" explain --json "$1" >"$2"', a.program, path, out.name],
                             capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = json.load(out)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 2), "mib": round(int(ran.stdout.split()[2]) / 1024, 1), "lines": answer["lines"],
            "not_read": (answer["not_read"] or {}).get("lines", 0)}


def is_too_much(row):
    most = min((seconds for size, seconds in MOST_SECONDS.items() if row["bytes"] <= 1.1 * size), default=None)
    return row["mib"] > MOST_MIB or (most is not None and row["seconds"] > most)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("hostile_log")
    parser.add_argument("stopwatch")
    parser.add_argument("--sizes", default="1000000,100000000")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--log", action="append", default=[])
    parser.add_argument("--results")
    a = parser.parse_args()
    kinds = subprocess.run([a.hostile_log], capture_output=True, text=True, check=True).stdout.split()
    rows = {}
    if a.results and os.path.exists(a.results):
        with open(a.results, encoding="utf-8") as file:
            rows = {row["log"]: row for row in map(json.loads, file)}
    jobs = [(f"{kind} {seed} {size}", None) for size in a.sizes.split(",") for seed in a.seeds.split(",") for kind in kinds]
    print(f"{'log':40s} {'seconds':>8s} {'MiB':>6s}  lines, of which not read")
    for name, path in jobs + [(log, log) for log in a.log]:
        if name not in rows:
            with tempfile.NamedTemporaryFile() as file:
                if path is None:
                    subprocess.run([a.hostile_log, *name.split()], stdout=file, check=True)
                path = path or file.name
                rows[name] = {"log": name, "bytes": os.path.getsize(path), **measure(a, path)}
            if a.results:
                with open(a.results, "a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[name]) + "\n")
        row = rows[name]
        print(f"{name:40s} {row['seconds']:8.2f} {row['mib']:6.1f}  {row['lines']}, {row['not_read']}"
              f"{'  TOO MUCH' if is_too_much(row) else ''}", flush=True)
    return any(is_too_much(row) for row in rows.values())


if __name__ == "__main__":
    sys.exit(main())

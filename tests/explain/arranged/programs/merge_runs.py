# SPDX-License-Identifier: MIT
"""Merge sorted runs of a log store into one stream, and count the lines per service."""
import argparse
import collections
import heapq
import logging
import os
import resource
import tempfile

logging.basicConfig(format="%(levelname).1s %(relativeCreated)6d %(name)s] %(message)s", level=logging.INFO)
log = logging.getLogger("logstore.merge")


def write_runs(folder, runs, lines):
    for run in range(runs):
        with open(os.path.join(folder, f"{run:05d}.run"), "w", encoding="ascii") as file:
            file.writelines(f"{line * runs + run:012d} service-{(line * 7 + run) % 13}\n" for line in range(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--lines", type=int, default=200)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_runs(folder, args.runs, args.lines)
        log.info("%d runs of %d lines, max rss %d kB", args.runs, args.lines, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        files = [open(os.path.join(folder, name), encoding="ascii") for name in sorted(os.listdir(folder))]
        counts = collections.Counter(line.split()[1] for line in heapq.merge(*files))
        for file in files:
            file.close()
    for service, count in counts.most_common(3):
        log.info("%-12s %d", service, count)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Commands beside each other: they run by turns, so that what else the machine does falls on all of them."""
import argparse
import os
import re
import statistics
import subprocess
import time

FEWEST_RUNS = 3  # of what takes seconds
ENOUGH_MS = 20e3
HEAD = ["", "what it does", "runs", "min ms", "median ms", "CPU ms", "peak RSS MiB", "time"]


class Missing(Exception):
    """Another program that is not available here."""


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


class Contender:
    """A command, its times and its largest resident set."""

    def __init__(self, name, what, command):
        self.name, self.what, self.command = name, what, command
        self.wall_ms, self.cpu_ms, self.rss_kib = [], [], 0

    def run(self, stopwatch):
        if len(self.wall_ms) >= FEWEST_RUNS and sum(self.wall_ms) > ENOUGH_MS:
            return
        done = subprocess.run([stopwatch, *self.command], stdout=subprocess.PIPE, text=True, check=True)
        status, wall_ms, rss_kib, cpu_ms = done.stdout.split()
        if status not in ("0", "1"):  # 1: plimsoll's "does not fit"
            raise SystemExit(f"{self.name} ended with {status}")
        self.wall_ms.append(float(wall_ms))
        self.cpu_ms.append(float(cpu_ms))
        self.rss_kib = max(self.rss_kib, int(rss_kib))

    def median_ms(self):
        return statistics.median(self.wall_ms)

    def row(self, base):
        return [self.name, self.what, str(len(self.wall_ms)), f"{min(self.wall_ms):.1f}", f"{self.median_ms():.1f}",
                f"{statistics.median(self.cpu_ms):.1f}", f"{self.rss_kib / 1024:.1f}", f"{self.median_ms() / base.median_ms():.1f} x"]


def available(peers):
    """What is here of these makers of contenders; of the others, why not."""
    for peer in peers:
        try:
            yield Contender(*peer())
        except Missing as reason:
            print(f"left out: {reason}")


def by_turns(runners, stopwatch, runs):
    """The first time fills caches and does not count."""
    for runner in runners:
        runner.run(stopwatch)
        runner.wall_ms.clear()
        runner.cpu_ms.clear()
        runner.rss_kib = 0
    for _ in range(runs):
        for runner in runners:
            runner.run(stopwatch)


def table(runners):
    """Times as multiples of the first one's."""
    rule = ["---", "---", *["---:"] * (len(HEAD) - 2)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [HEAD, rule, *(r.row(runners[0]) for r in runners)])


def machine_and_date():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    return f"{found[1] if found else 'unknown CPU'}, {load}, {time.strftime('%Y-%m-%d')}"


def write_page(path, marker, text):
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new = re.sub(rf"(<!-- {marker}:begin -->\n).*?(<!-- {marker}:end -->)", lambda m: m[1] + text + "\n" + m[2], old, flags=re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


def parser(doc):
    """The arguments that every such benchmark has."""
    result = argparse.ArgumentParser(description=doc.strip().splitlines()[0])
    result.add_argument("--plimsoll", required=True, help="the program")
    result.add_argument("--stopwatch", required=True, help="the program that times another")
    result.add_argument("--source", default=".", help="the source tree")
    result.add_argument("--work", required=True, help="where models go")
    result.add_argument("--peers", help="where the other programs go (the source tree's .cache/bench-peers)")
    result.add_argument("--runs", type=int, default=20)
    result.add_argument("--page", help="write the tables between this page's markers")
    return result


def parse(parser_):
    arguments = parser_.parse_args()
    arguments.source, arguments.work = os.path.abspath(arguments.source), os.path.abspath(arguments.work)
    arguments.peers = os.path.abspath(arguments.peers or os.path.join(arguments.source, ".cache", "bench-peers"))
    os.makedirs(arguments.work, exist_ok=True)
    os.makedirs(arguments.peers, exist_ok=True)
    return arguments


def judge(what, runners, most_ms, most_mib=None):
    """Say whether these keep to the limits, by the least times: the others are also those of what else the machine does."""
    kept = all(min(r.wall_ms) <= most_ms and r.rss_kib <= (most_mib or 1 << 30) * 1024 for r in runners)
    limit = f"{most_ms} ms" + (f" and {most_mib} MiB" if most_mib else "")
    print(f"{what}: {limit} {'kept' if kept else 'NOT kept'} by the least times")

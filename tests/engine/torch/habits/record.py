#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Records of the programs of FILES, from real PyTorch on the virtual GPU, as text: tests/data/habits/NAME.habit.

    record.py --plimsoll P --python PYTHON [--write] [NAME...]     without --write: what is asked for is as it was recorded
    record.py --plimsoll P --python PYTHON --snapshots    those of SNAPSHOTS as PyTorch writes them, packed
    record.py --half seen|blind           the names, drawn with a seed, that a detector was made with, and the others

A record begins as those of ../allocator/record.py; stacks are lists of frames, and each entry has the number of its own.
Whether a program has its fault is seen in PyTorch's own statistics at the ends of its turns, not by plimsoll: a program
for which they do not show it is refused.
"""
import argparse
import gzip
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "allocator"))
HABITS = os.path.join(HERE, "..", "..", "..", "data", "habits")

FILES = ("faulty.py", "clean.py", "later.py", "planted.py", "plain.py", "second.py", "varied.py", "apart.py")
# For the tests of `plimsoll trace`: tests/data/traces.
SNAPSHOTS = ["results-between", "dialogue", "cyclic-exception", "rollouts-under-a-limit", "stream-for-each-batch"]

from record import LETTERS, STATES, TRACES, is_emptying  # noqa: E402


def names(file: str) -> list[str]:
    with open(os.path.join(HERE, file), encoding="utf-8") as text:
        return [name.replace("_", "-") for name in re.findall(r"^@program\(.*\)\ndef (\w+)", text.read(), re.M)]


def halves() -> dict[str, list[str]]:
    drawn: dict[str, list[str]] = {"seen": [], "blind": []}
    for file in ("faulty.py", "clean.py"):
        mixed = random.Random(16).sample(names(file), 30)
        drawn["seen"] += mixed[:15]
        drawn["blind"] += mixed[15:]
    return drawn


def without_folder(file: str) -> str:
    """Of PyTorch, of the programs here, and of Python's library: not where they are on this machine."""
    name = file.rpartition("site-packages/")[2].replace(HERE + "/", "")
    return re.sub(r"^/.*(?=/lib/python3)", "/usr", name)


class Tables:
    """Files, frames and stacks, numbered as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.rows: dict = {}

    def number(self, kind: str, row: tuple) -> int:
        rows = self.rows.setdefault(kind, {})
        if row not in rows:
            rows[row] = len(rows)
            self.lines.append(" ".join([kind, *map(str, row)]))
        return rows[row]

    def stack(self, frames: list[dict]) -> int:
        numbers = []
        for frame in frames:
            name = without_folder(frame["filename"])
            numbers.append(self.number("frame", (self.number("file", (name,)), frame["line"], frame["name"])))
        return self.number("stack", tuple(numbers)) if numbers else -1


def same_block(entry: dict, other: dict) -> bool:
    return all(entry[key] == other[key] for key in ("addr", "size", "stream")) and entry.get("frames") == other.get("frames")


def record(run: dict, name: str) -> str:
    snapshot, stats, tables = run["snapshot"], run["stats"], Tables()
    entries = [entry for entry in snapshot["device_traces"][0] if entry["action"] in LETTERS]
    segments = sorted(snapshot["segments"], key=lambda segment: segment["address"])
    streams = sorted({entry["stream"] for entry in entries} | {segment["stream"] for segment in segments} | {0})
    pools = list(dict.fromkeys([(0, 0)] + sorted({tuple(segment["segment_pool_id"]) for segment in segments}
                                                 | {tuple(entry["pool_id"]) for entry in entries})))
    base = min([entry["addr"] for entry in entries if entry["action"] != "oom"] + [segment["address"] for segment in segments])
    lines = []
    for segment in segments:
        lines.append(f"s {(segment['address'] - base) // 512:x} {segment['total_size']} {streams.index(segment['stream'])} "
                     f"{pools.index(tuple(segment['segment_pool_id']))} "
                     f"{int(segment['segment_type'] == 'small')} {int(segment['is_expandable'])}")
        lines += [f"b {block['size']} {block['requested_size']} {STATES[block['state']]} {tables.stack(block.get('frames', []))}"
                  for block in segment["blocks"]]
    stream, pool, skipped = 0, 0, False
    for entry, following in zip(entries, entries[1:] + [None]):
        if skipped:  # by the line before, which is "given back and free"
            skipped = False
            continue
        letter = LETTERS[entry["action"]]
        now = streams.index(entry["stream"]), pools.index(tuple(entry["pool_id"]))
        if (stream, pool) != now:
            stream, pool = now
            lines.append(f"at {stream} {pool}")
        skipped = letter == "r" and following is not None and following["action"] == "free_completed" and same_block(entry, following)
        where = f"{entry['device_free']:x}" if letter == "o" else f"{(entry['addr'] - base) // 512:x}"
        lines.append(f"{'d' if skipped else letter} {where} {tables.stack(entry.get('frames', []))}"
                     + (f" {entry['size']}" if letter not in "rf" else "")
                     + (" e" if letter in "-u" and is_emptying(entry) else ""))
    head = [f"torch {run['torch']}", "conf ", "fraction 0", f"room {run['room'][0]} {run['room'][1]}",
            "peaks " + " ".join(str(stats[f"{key}_bytes.all.peak"]) for key in
                                ("allocated", "reserved", "requested", "inactive_split")),
            f"ends {stats['num_alloc_retries']} {stats['num_ooms']}", f"streams {len(streams)}", f"pools {len(pools)}",
            f"fault {run['fault']}"]
    return "\n".join([*head, *tables.lines, *lines]) + "\n"


def write_snapshot(run: dict, name: str) -> None:
    for owner in run["snapshot"]["device_traces"][0] + run["snapshot"]["segments"]:
        for frame in [frame for row in [owner, *owner.get("blocks", [])] for frame in row.get("frames", [])]:
            frame["filename"] = without_folder(frame["filename"])
    path = os.path.join(TRACES, f"habit-{name}-2.15.pickle.gz")
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        pickle.dump(run["snapshot"], packed, protocol=4)


def rises(series: list[int]) -> bool:
    """From quarter to quarter, without the first three turns, by about as much, and not in a few steps."""
    series = series[3:]
    if sum(b > a for a, b in zip(series, series[1:])) < 6:
        return False
    quarters = [sum(part) / len(part) for part in (series[i * len(series) // 4:(i + 1) * len(series) // 4] for i in range(4))]
    gains = [b - a for a, b in zip(quarters, quarters[1:])]
    return min(gains) > 0 and max(gains) < 6 * min(gains)


def shows(run: dict) -> set[str]:
    """What PyTorch's own figures say of a program."""
    held, most, reserved, pieces = zip(*run["notes"]) if run["notes"] else ([], [], [], [])
    found = set()
    if len(held) >= 12:
        found |= {"kept", "copied"} if rises(held) else set()
        found |= {"needs"} if rises(most) else set()
        falls = [i for i in range(4, len(held)) if held[i] < held[i - 1] - (max(held[3:]) - min(held[3:])) / 3]
        found |= {"late"} if 2 <= len(falls) <= len(held) / 4 else set()
    if any(p > 0.3 * r and p > 64 << 20 for p, r in zip(pieces, reserved)):
        found.add("pieces")
    times = 2 if len(reserved) >= 12 and rises(reserved) else 3
    if reserved and reserved[-1] > max(times * max(most), max(most) + (128 << 20)):
        found.add("unfit")
    return found


def is_as_told(run: dict, name: str) -> bool:
    """Of a program without a fault: what it holds does not rise, but for weights that are wanted, nor what it needs."""
    found = shows(run)
    return run["fault"] in found if run["fault"] else name.startswith("weights-loaded") or not found & {"kept", "needs", "pieces", "unfit"}


def rehearse(plimsoll: str, python: str, wanted: list[str], folder: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")}
    run = subprocess.run([plimsoll, "rehearse", "--card", "RTX 4090", "--until", "exit", "--receipt",
                          os.path.join(folder, "receipt.json"), "--", python, os.path.join(HERE, "run.py"), folder, *wanted],
                         env=environment, capture_output=True, text=True, timeout=3600)
    if run.returncode:
        raise SystemExit(f"status {run.returncode}\n{run.stderr[-2000:]}")


def essence(text: str) -> list[str]:
    """What is asked for, in order, and what the driver is: addresses and stacks are the machine's, or another version's."""
    return [" ".join([words[0], *words[3:]]) for words in map(str.split, text.splitlines()) if words[0] in ("a", "+", "-", "o")]


def is_recorded(text: str, name: str) -> bool:
    with open(os.path.join(HABITS, name + ".habit"), encoding="utf-8") as file:
        return essence(text) == essence(file.read())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll")
    parser.add_argument("--python")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--snapshots", action="store_true")
    parser.add_argument("--half", choices=("seen", "blind"))
    parser.add_argument("--from", dest="folder", help="pickles of an earlier run")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.half:
        print("\n".join(halves()[options.half]))
        return 0
    wanted, wrong = SNAPSHOTS if options.snapshots else options.names or [name for file in FILES for name in names(file)], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        if not options.folder:
            rehearse(options.plimsoll, options.python, wanted, folder)
        for name in wanted:
            with open(os.path.join(folder, name + ".pickle"), "rb") as file:
                run = pickle.load(file)
            found, text = shows(run), record(run, name)
            is_right = is_as_told(run, name)
            wrong += not is_right
            print(f"{name}: {run['fault']}, {len(text)} bytes; PyTorch shows {' '.join(sorted(found)) or 'nothing'}"
                  + ("" if is_right else "  <-- not what it is"), flush=True)
            if options.snapshots:
                write_snapshot(run, name)
            elif not options.write and not is_recorded(text, name):
                wrong += 1
                print(f"{name}: PyTorch does something else now")
            if options.write:
                with open(os.path.join(HABITS, name + ".habit"), "w", encoding="utf-8") as file:
                    file.write(text)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The history in a page of `plimsoll trace --html`, read without a browser: check_data.py --plimsoll PROGRAM SNAPSHOT...

src/report/trace/pack.h describes the bytes. Every entry of the snapshot has to be in them, with its stack; and the block of
each allocation that is held at the end has to be as large as the snapshot says.
"""
import argparse
import base64
import json
import pickle
import re
import subprocess
import sys

ACTIONS = ["alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "snapshot", "other"]
FREED, ODD_ADDRESS, STREAM, BLOCK, UNKNOWN = 10, 0x10, 0x20, 0x40, 0x80


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        return -(value + 1) // 2 if value & 1 else value // 2

    def list(self, read):
        return [read() for _ in range(self.number())]

    def text(self):
        n = self.number()
        self.at += n
        return self.data[self.at - n:self.at].decode()


class History:
    """The entries as a snapshot has them, and for each allocation its address, bytes, block and stack."""

    def __init__(self, data):
        r = Bytes(data)
        texts = r.list(r.text)
        frames = r.list(lambda: (texts[r.number()], r.number(), texts[r.number()]))
        self.stacks = r.list(lambda: (r.number(), r.list(lambda: frames[r.number()]))[1])
        self.streams = r.list(r.number)
        r.list(lambda: (r.number(), r.number()))
        self.segments = r.list(lambda: [r.number() for _ in range(5)])
        self.allocations = r.list(lambda: (r.number() - 1, r.number(), r.number(), r.number() - 1, r.number()))
        self.entries, self.us, self.address, self.stream = [], 0, 0, 0
        n = r.number()
        while len(self.entries) < n:
            self.read(r)
        if r.at != len(data) or len(self.entries) != n:
            raise SystemExit(f"{len(data) - r.at} bytes behind the history, {len(self.entries)} entries of {n}")

    def place(self, r, code):
        difference = r.signed()
        self.address += difference if code & ODD_ADDRESS else 512 * difference
        if code & STREAM:
            self.stream = r.number()
        return self.address

    def add(self, action, address, size):
        self.entries.append((action, self.us, address, size))

    def read(self, r):
        code = r.byte()
        action = code & 15
        self.us += r.signed()
        if action == 0:
            address, size = self.place(r, code), r.number()
            block = r.number() if code & BLOCK else max(-(-size // 512), 1) * 512
            self.allocations.append((address, size, block, r.number() - 1, r.number()))
            self.add("alloc", address, size)
        elif action == 7:
            size, free = r.number(), r.number()
            self.allocations.append((-1, 0, 0, r.number() - 1, None))
            self.add("oom", free, size)
        elif 3 <= action <= 6:
            address, size = self.place(r, code), r.number()
            r.number()
            self.add(ACTIONS[action], address, size)
        elif action in (1, 2, FREED) and not code & UNKNOWN:
            address, size = self.allocations[len(self.allocations) - 1 - r.number()][:2]
            self.add(ACTIONS[1 if action == FREED else action], address, size)
            if action == FREED:
                self.us += r.signed()
                self.add("free_completed", address, size)
        else:
            self.add(ACTIONS[action], None, None)


def stack_of(frames):
    return [(frame["filename"], frame["line"], frame["name"]) for frame in frames]


def same(found, expected, what):
    if found != expected:
        raise SystemExit(f"{what}: {found}, not {expected}")


def check_entries(history, trace):
    allocations = iter(history.allocations[len(history.allocations) - sum(e["action"] in ("alloc", "oom") for e in trace):])
    same(len(history.entries), len(trace), "entries")
    for i, (found, entry) in enumerate(zip(history.entries, trace)):
        address = entry["device_free"] if entry["action"] == "oom" else entry["addr"]
        us = entry.get("time_us", 0) - trace[0].get("time_us", 0)  # PyTorch 2.1 writes no times
        if entry["action"] == "snapshot":
            same(found[:2], ("snapshot", us), f"entry {i}")
        else:
            same(found, (entry["action"], us, address, entry["size"]), f"entry {i}")
        if entry["action"] in ("alloc", "oom"):
            stack = next(allocations)[3]
            same(history.stacks[stack] if stack >= 0 else [], stack_of(entry["frames"]), f"the stack of entry {i}")


def check_blocks(history, segments):
    """Of several allocations at one address the last is held at the end."""
    blocks = {address: (size, block) for address, size, block, _, _ in history.allocations}
    n = 0
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                same(blocks.get(address), (block["requested_size"], block["size"]), f"the block at {address:#x}")
                n += 1
            address += block["size"]
    return n


def check(plimsoll, path):
    page = subprocess.run([plimsoll, "trace", path, "--html", "-"], stdout=subprocess.PIPE, check=True, text=True).stdout
    parts = dict(re.findall(r'<script id="(\w+)" type="[\w/]+">\n(.*?)</script>', page, re.S))
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    answer = json.loads(parts["answer"])
    history = History(base64.b64decode(parts["history"]))
    segments = [s for s in (snapshot["segments"] if isinstance(snapshot, dict) else snapshot) if s["device"] == answer["device"]]
    check_entries(history, snapshot["device_traces"][answer["device"]] if isinstance(snapshot, dict) else [])
    same(json.loads(subprocess.run([plimsoll, "trace", path, "--json"], stdout=subprocess.PIPE, check=True).stdout), answer, "the answer")
    return len(history.entries), check_blocks(history, segments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("snapshots", nargs="+")
    arguments = parser.parse_args()
    done = [check(arguments.plimsoll, path) for path in arguments.snapshots]
    n_entries, n_blocks = map(sum, zip(*done))
    if not n_entries or not n_blocks:
        raise SystemExit("nothing was compared")
    print(f"{len(done)} pages hold {n_entries} entries and {n_blocks} blocks of their snapshots")


if __name__ == "__main__":
    sys.exit(main())

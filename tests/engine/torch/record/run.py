#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`plimsoll rehearse --record` on real PyTorch: what the step says against what the program says of itself.

    run.py --plimsoll P --python VENV/bin/python [KIND...]

Each kind of loop of train.py is recorded; for "real" `plimsoll trace --record` does it, on a machine whose card is the
rehearsal's. The step must have every byte of weights, gradients and states of the
optimizer under its pillar, nothing unknown, and PyTorch's own peaks; and nothing may be left in the folder for
temporary files. Exit status: 0 all of it holds, 1 it does not, 77 PyTorch is not there (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "train.py")
KINDS = ("plain", "sgd", "checkpoint", "frozen", "scaler", "accumulate", "evaluate", "kept", "real")
TIMEOUT_S = 300


class Broken(Exception):
    pass


def demand(condition: bool, what: str) -> None:
    if not condition:
        raise Broken(what)


def sizes_of(shape: dict, track: dict) -> list[int]:
    """The bytes of each allocation; a recording's sizes have one term."""
    values = [size["terms"][0]["coefficient"] if size["terms"] else 0 for size in shape["sizes"]]
    return [values[number] for number in track["allocations"]["size"]]


def held(track: dict, sizes: list[int], pillar: str | None) -> tuple[int, int]:
    """Bytes of a pillar: at the end, and at most."""
    now = most = 0
    for kind, number in zip(track["events"]["kind"], track["events"]["id"]):
        if number is None or track["allocations"]["pillar"][number] != pillar:
            continue
        if kind == "take":
            now += sizes[number]
        elif kind in ("give", "give_later"):
            now -= sizes[number]
        most = max(most, now)
    return now, most


def record(plimsoll: str, python: str, kind: str, folder: str) -> tuple[dict, dict]:
    step = os.path.join(folder, f"{kind}.step")
    environment = dict(os.environ, TMPDIR=folder)
    rehearsal, record = [plimsoll, "rehearse", "--card", "RTX 4090", "--until", "exit", "-q"], ["--record", step, "--"]
    if kind == "real":
        command = [*rehearsal, "--", plimsoll, "trace", *record, python, "-W", "ignore", PROGRAM, "plain"]
    else:
        command = [*rehearsal, *record, python, "-W", "ignore", PROGRAM, kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    demand(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
    demand(not any("plimsoll" in name for name in os.listdir(folder)), f"left behind: {os.listdir(folder)}")
    shown = subprocess.run([plimsoll, "trace", step, "--json"], capture_output=True, text=True, check=True)
    os.remove(step)
    return json.loads(done.stdout), json.loads(shown.stdout)


def check(said: dict, step: dict, kind: str) -> None:
    shape = step["shapes"][0]
    demand(len(shape["tracks"]) == 1, "one process, one device")
    track = shape["tracks"][0]
    sizes = sizes_of(shape, track)
    allocations = track["allocations"]
    unknown = held(track, sizes, None)[1]
    demand(unknown == said["kept"], f"{unknown} bytes are for nothing known, expected {said['kept']}")
    demand(None not in allocations["phase"], "a phase is unknown")
    demand(None not in allocations["site"], "a line is unknown")
    for pillar, number in (("weights", 0), ("optimizer", 0), ("gradients", 1)):
        found = held(track, sizes, pillar)[number]
        demand(found == said[pillar], f"{pillar}: {found} bytes, the program has {said[pillar]}")
    recorded = track["recorded"][0]
    demand(recorded == {"allocated_bytes": said["allocated_peak"], "reserved_bytes": said["reserved_peak"]},
           f"peaks {recorded}, the program has {said}")
    demand({mark["step"] for mark in track["marks"]} == {0, 1, 2, 3}, "three steps, and what follows")
    phases = {"load", "forward", "backward", "step"} | ({"evaluate"} if kind == "evaluate" else set())
    demand(set(allocations["phase"]) == phases, f"phases {set(allocations['phase'])}")
    files = {os.path.basename(step["sites"][site]["file"] or "") for site in allocations["site"] if site is not None}
    demand(files == {"train.py"}, f"sites in {files}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("kinds", nargs="*", default=KINDS)
    options = parser.parse_args()
    if not os.access(options.python, os.X_OK):
        print(f"skipped: there is no {options.python}")
        return 77
    failures = 0
    for kind in options.kinds or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(*record(options.plimsoll, options.python, kind, folder), kind)
                print(f"{kind}: right")
            except Broken as broken:
                failures += 1
                print(f"{kind}: WRONG: {broken}")
    return 1 if failures else 0


sys.exit(main())

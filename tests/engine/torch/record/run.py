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

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("plain", "sgd", "checkpoint", "frozen", "scaler", "accumulate", "evaluate", "kept", "inference", "ranks", "real")
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
    card = "2x RTX 4090" if kind == "ranks" else "RTX 4090"
    rehearsal, record = [plimsoll, "rehearse", "--card", card, "--until", "exit", "-q"], ["--record", step, "--"]
    program = [python, "-W", "ignore", os.path.join(HERE, "ranks.py" if kind == "ranks" else "train.py")]
    if kind == "real":
        command = [*rehearsal, "--", plimsoll, "trace", *record, *program, "plain"]
    else:
        command = [*rehearsal, *record, *program, kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    demand(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
    left = [name for name in os.listdir(folder) if not name.startswith("torchinductor")]  # AdamW's
    demand(left == [f"{kind}.step"], f"left behind: {left}")
    shown = subprocess.run([plimsoll, "trace", step, "--json"], capture_output=True, text=True, check=True)
    os.remove(step)
    return [json.loads(line) for line in done.stdout.splitlines()], json.loads(shown.stdout)


def check(said: list[dict], step: dict, kind: str) -> None:
    shape = step["shapes"][0]
    demand(len(shape["tracks"]) == len(said), "a track for each process")
    for rank, track in enumerate(shape["tracks"]):
        demand((track["rank"], track["device"]) == (rank, rank), "ranks in order, each on its card")
        check_track(next(one for one in said if one.get("rank", 0) == rank), step, shape, track, kind)


def check_track(said: dict, step: dict, shape: dict, track: dict, kind: str) -> None:
    sizes = sizes_of(shape, track)
    allocations = track["allocations"]
    unknown = held(track, sizes, None)[1]
    demand(unknown == said.get("kept", 0), f"{unknown} bytes are for nothing known, expected {said.get('kept', 0)}")
    demand(None not in allocations["phase"], "a phase is unknown")
    demand(None not in allocations["site"], "a line is unknown")
    is_training = kind != "inference"
    for pillar, number in (("weights", int(not is_training)), ("optimizer", 0), ("gradients", 1)):
        found = held(track, sizes, pillar)[number]
        demand(found == said[pillar], f"{pillar}: {found} bytes, the program has {said[pillar]}")
    states, most_states = held(track, sizes, "optimizer")
    demand(states == most_states, f"optimizer: {most_states - states} bytes are work areas of its steps, not states")
    recorded = track["recorded"][0]
    demand(recorded == {"allocated_bytes": said["allocated_peak"], "reserved_bytes": said["reserved_peak"]},
           f"peaks {recorded}, the program has {said}")
    n_steps = 3 if is_training else 0
    demand({mark["step"] for mark in track["marks"]} == set(range(n_steps + 1)), "three steps, and what follows")
    phases = {"load", "forward"} | ({"backward", "step"} if is_training else set()) | ({"evaluate"} if kind == "evaluate" else set())
    demand(set(allocations["phase"]) == phases, f"phases {set(allocations['phase'])}")
    files = {os.path.basename(step["sites"][site]["file"] or "") for site in allocations["site"] if site is not None}
    demand(files == {"ranks.py" if kind == "ranks" else "train.py"}, f"sites in {files}")


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

# SPDX-License-Identifier: MIT
"""A writer of recorded steps, by docs/internals/step.md alone: what the program reads is not only what it wrote itself."""
from __future__ import annotations

import struct

PILLARS = ["weights", "kv_cache", "activations", "gradients", "optimizer", "overhead", "others"]
PHASES = ["load", "prefill", "decode", "forward", "backward", "step", "evaluate"]
EVENTS = ["take", "give", "give_later", "given", "empty", "release_pool", "empty_pool"]
ENDS = [None, "exit", "steps", "memory"]
UNKNOWN = 15
MAGIC = b"\x89PLSTEP\n"


def number(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def known(value: int | None) -> bytes:
    return number(0 if value is None else value + 1)


def text(value: str) -> bytes:
    return number(len(value.encode())) + value.encode()


def kind(names: list[str], value: str | None) -> int:
    return UNKNOWN if value is None else names.index(value)


def size(row: dict, variables: list[str], version: int) -> bytes:
    """{"terms": [(coefficient, {variable: power})], "denominator": 1, "rounding": {variable: exponent}, "bounds": (least, multiple, most),
    "is_rest": False, "is_exact": True}"""
    rounding = row.get("rounding", {})
    out = number(4 * len(row["terms"]) + 2 * bool(rounding) + row.get("is_exact", True))
    if rounding:
        out += bytes(rounding.get(name, 0) for name in variables)
    if row.get("bounds"):
        out += number(0) + b"".join(number(bound) for bound in row["bounds"])
        out += number(row.get("is_rest", False)) if version > 1 else b""
    out += number(row.get("denominator", 1))
    for coefficient, powers in row["terms"]:
        out += number(coefficient * 2 if coefficient >= 0 else -coefficient * 2 - 1)
        out += bytes(powers.get(name, 0) for name in variables)
    return out


def events(rows: list[tuple]) -> bytes:
    """(kind, id or None, stream, pool); the stream and the pool may be left out."""
    out, taken, stream, pool = number(len(rows)), 0, 0, 0
    for word, which, *place in rows:
        to_stream, to_pool = (list(place) + [stream, pool][len(place):])[:2]
        out += bytes([EVENTS.index(word) | (8 if to_stream != stream else 0) | (16 if to_pool != pool else 0)])
        out += number(to_stream) if to_stream != stream else b""
        out += number(to_pool) if to_pool != pool else b""
        stream, pool = to_stream, to_pool
        if word == "take":
            taken += 1
        elif which is not None:
            out += number(taken - 1 - which)
    return out


def loops(rows: list[tuple]) -> bytes:
    """(first event, number of events, size that is cut into turns, sizes of takes)"""
    out, end = number(len(rows)), 0
    for first, n, cut, sizes in rows:
        out += number(first - end) + number(n) + number(cut) + number(0) + b"".join(map(number, sizes))
        end = first + n
    return out


def track(row: dict, version: int) -> bytes:
    retries, recorded = row.get("pool_retries"), row.get("recorded")
    out = number(row.get("rank", 0)) + number(row.get("device", 0)) + number(row.get("streams", 1)) + number(row.get("pools", 1))
    out += bytes([ENDS.index(row.get("end")), row.get("starts_late", False) + 2 * (retries is not None) + 4 * (recorded is not None)])
    out += bytes(retries or [])
    for allocated, reserved in recorded or []:
        out += known(allocated) + known(reserved)
    out += known(row.get("outside_bytes")) + known(row.get("capacity_bytes"))
    out += number(len(row["allocations"]))
    for of_size, site, pillar, phase in row["allocations"]:
        out += number(of_size) + known(site) + bytes([kind(PILLARS, pillar) << 4 | kind(PHASES, phase)])
    out += events(row["events"])
    marks = row.get("marks", [])
    out += number(len(marks))
    at = (0, 0)
    for event, step, phase in marks:
        out += number(event - at[0]) + number(step - at[1]) + bytes([kind(PHASES, phase)])
        at = (event, step)
    return out + (loops(row.get("loops", [])) if version > 1 else b"")


def shape(row: dict, variables: list[str], version: int) -> bytes:
    out = number(len(row["points"]))
    out += b"".join(number(point[name]) for point in row["points"] for name in variables)
    out += struct.pack("<dd", *row.get("errors", (-1.0, -1.0)))
    out += number(len(row["sizes"])) + number(sum(len(each["terms"]) for each in row["sizes"]))
    out += b"".join(size(each, variables, version) for each in row["sizes"])
    return out + number(len(row["tracks"])) + b"".join(track(each, version) for each in row["tracks"])


def with_sum(body: bytes) -> bytes:
    value = 0xCBF29CE484222325
    for byte in body:
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return body + struct.pack("<Q", value)


def encode(step: dict) -> bytes:
    variables, texts = step.get("variables", []), bytearray(b"\0")

    def place(word: str) -> int:
        at = bytes(texts).find(b"\0" + word.encode() + b"\0") + 1 if word else 0
        if not at and word:
            at = len(texts)
            texts.extend(word.encode() + b"\0")
        return at

    command = place(step.get("command", ""))
    version = 2 if any(len(site) > 3 for site in step.get("sites", [])) else 1
    sites = b""
    for file, function, line, *loop in step.get("sites", []):  # a loop: its place, and the most that a turn has (0: not known)
        sites += number(place(file)) + number(place(function)) + number(line)
        if version > 1:
            sites += number(place(loop[0])) + number(loop[1]) if loop else number(0)
    out = MAGIC + number(version) + text(step.get("torch_version", "")) + text(step.get("alloc_conf", ""))
    out += text(step.get("card_name", "")) + number(step.get("card_bytes", 0))
    out += number(len(texts)) + bytes(texts) + number(command)
    out += number(len(variables)) + b"".join(text(name) for name in variables)
    out += number(len(step.get("sites", []))) + sites
    out += number(len(step["shapes"])) + b"".join(shape(row, variables, version) for row in step["shapes"])
    return with_sum(out)


def training(steps: int = 2, variables: bool = True) -> dict:
    """A small training: weights, and for each step activations, gradients and the optimizer's state, that come and go."""
    mib = 1 << 20
    scale = {"B": 1} if variables else {}
    sizes = [{"terms": [(64 * mib, {})]}, {"terms": [(3 * mib if variables else 6 * mib, scale)]}, {"terms": [(128 * mib, {})]}]
    allocations: list[tuple] = [(0, 0, "weights", "load")]
    rows: list[tuple] = [("take", 0)]
    marks: list[tuple] = [(0, 0, "load")]
    for step in range(steps):
        marks.append((len(rows), step, "forward"))
        first = len(allocations)
        for _ in range(3):
            rows.append(("take", len(allocations)))
            allocations.append((1, 1, "activations", "forward"))
        marks.append((len(rows), step, "backward"))
        for which in reversed(range(first, first + 3)):
            rows += [("give", which)]
        gradient = len(allocations)
        rows.append(("take", gradient))
        allocations.append((0, 2, "gradients", "backward"))
        marks.append((len(rows), step, "step"))
        if step == 0:
            rows.append(("take", len(allocations)))
            allocations.append((2, 3, "optimizer", "step"))
        rows.append(("give", gradient))
    marks.append((len(rows), steps, None))
    peak = ((64 + 64 + 128) * mib, (64 + 64 + 128 + 20) * mib)
    points = [{"B": 2}, {"B": 4}] if variables else [{}]
    row = {"allocations": allocations, "events": rows, "marks": marks, "end": "steps", "recorded": [peak] * len(points),
           "outside_bytes": 9 * mib}
    return {"torch_version": "2.15.0", "card_name": "NVIDIA GeForce RTX 4090", "card_bytes": 24564 * mib, "variables": list(scale),
            "command": "python train.py" + (" --batch {B}" if variables else ""),
            "sites": [("train.py", "load_model", 10), ("train.py", "forward", 20), ("train.py", "main", 31), ("train.py", "main", 32)],
            "shapes": [{"points": points, "sizes": sizes, "tracks": [row], "errors": (0.0, 0.001) if variables else (-1.0, -1.0)}]}


def tiny() -> dict:
    """The same with 72 tokens in a row of the batch: too few for the work areas of sums."""
    step = training()
    shape = step["shapes"][0]
    shape["sizes"].append({"terms": [(8 * 72, {"B": 1})]})
    track = shape["tracks"][0]
    last = track["allocations"][-1]
    track["allocations"].append((3, *last[1:2], "activations", "forward"))
    track["events"].append(("take", len(track["allocations"]) - 1))
    del track["recorded"]
    return step


def pieces(limit: int = 4096) -> dict:
    """A program whose activations are made in a loop over pieces, of which the recordings have one."""
    step = training()
    step["sites"][1] += ("train.py:19", limit)
    return step


def whole_pieces() -> dict:
    """The same with recordings that had whole pieces, of which each turn gives back what it takes; and tokens that grow."""
    step = tiny()
    step["sites"][1] += ("train.py:19", 64)
    shape = step["shapes"][0]
    shape["points"] = [{"B": 8}, {"B": 16}]
    shape["sizes"][1] = {"terms": [(12 << 20, {})]}
    return step


def orders() -> dict:
    """The training in two orders, one for B up to 2, one from 4 on, where its activations no longer grow."""
    small, large = training()["shapes"][0], training(3)["shapes"][0]
    small["points"], large["points"] = [{"B": 1}, {"B": 2}], [{"B": 4}, {"B": 8}]
    large["sizes"][1]["bounds"] = (0, 0, 12 << 20)
    return training() | {"shapes": [small, large]}


def turns() -> dict:
    """A loop over pieces of 1 MiB, each of which is given back when the next one is there."""
    mib = 1 << 20
    sizes = [{"terms": [(600000, {"B": 1})], "bounds": (0, 0, mib)}, {"terms": [(600000, {"B": 1})], "bounds": (0, 0, mib), "is_rest": True},
             {"terms": [(mib, {})]}]
    track = {"allocations": [(0, 0, "activations", "forward"), (1, 0, "activations", "forward")], "end": "steps",
             "events": [("take", 0), ("take", 1), ("give", 0), ("give", 1)], "marks": [(0, 0, "forward"), (4, 1, None)],
             "loops": [(1, 2, 1, [2])]}
    points = [{"B": 1}, {"B": 2}, {"B": 5}]
    return {"torch_version": "2.15.0", "card_name": "NVIDIA GeForce RTX 4090", "card_bytes": 24564 * mib, "variables": ["B"],
            "command": "python train.py --batch {B}", "sites": [("train.py", "forward", 20, "train.py:19", 4096)],
            "shapes": [{"points": points, "sizes": sizes, "tracks": [track], "errors": (0.0, 0.0)}]}


def everything() -> dict:
    """Every kind of event, two streams, pools, ranks and shapes, tiles, and much that is not known."""
    events = [("take", 0), ("take", 1, 1, 1), ("give_later", 0, 1, 0), ("given", 0), ("give", 1, 1, 1), ("empty", None),
              ("release_pool", None, 0, 1), ("empty_pool", None), ("empty", None, 0, 0)]
    size = {"terms": [(3, {"B": 1, "S": 2}), (-5, {"B": 4})], "denominator": 2, "rounding": {"S": 7}, "bounds": (512, 1024, 1 << 40),
            "is_exact": False}
    track = {"streams": 2, "pools": 2, "pool_retries": [1, 0], "end": "memory", "starts_late": True, "recorded": [(1 << 30, None)],
             "capacity_bytes": 1 << 31, "allocations": [(0, 0, None, "backward"), (0, None, "weights", None)],
             "marks": [(1, 0, "load"), (9, 2, None)], "events": events}
    tracks = [track | {"rank": rank, "device": rank} for rank in (0, 1)]
    shapes = [{"points": [{"B": b, "S": 128}], "errors": (0.25, 1e-9), "sizes": [size], "tracks": tracks} for b in (1, 5)]
    sites = [("a.py", "f", 3), ("a.py", "g", 9, "a.py:8", 0)]
    return {"torch_version": "2.5.1", "alloc_conf": "expandable_segments:True", "variables": ["B", "S"], "sites": sites, "shapes": shapes}

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Records of PyTorch's allocator: what it was asked and what it did, from real PyTorch on the virtual GPU.

    record.py --plimsoll P [--write] [--only PART] VERSION=PYTHON...
    record.py --plimsoll P --snapshots VERSION=PYTHON...

Runs program.py under each setting of CASES with each PyTorch, and compares what it did with the record in
tests/data/traces; --write writes the records. A record is text: its head, then an entry of the history on each line.
`make test` replays them (tests/unit/test_torch_allocator.c): every segment, every peak and every OOM is compared.
--snapshots writes whole snapshots of train.py and steps.py, with stacks, for the tests of the reader and of `plimsoll trace`.
"""
import argparse
import gzip
import json
import os
import pickle
import pickletools
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(HERE, "..", "..", "..", "data", "traces")
# name: (kind, seed, PYTORCH_CUDA_ALLOC_CONF, options of program.py, first version)
EXPANDABLE = "expandable_segments:True"
CASES = {
    "random": ("random", 1, "", [], "2.0"),
    "random-again": ("random", 2, "", [], "2.0"),
    "waves": ("waves", 3, "", [], "2.0"),
    "model": ("model", 4, "", [], "2.0"),
    "model-expandable": ("model", 4, EXPANDABLE, [], "2.1"),
    "expandable": ("random", 1, EXPANDABLE, [], "2.1"),
    "expandable-waves": ("waves", 3, EXPANDABLE, [], "2.1"),
    "expandable-full": ("random", 8, EXPANDABLE, ["--room", "500"], "2.1"),
    "expandable-waves-full": ("waves", 9, EXPANDABLE, ["--room", "300"], "2.1"),
    "expandable-streams": ("streams", 22, EXPANDABLE, [], "2.1"),
    "split": ("random", 1, "max_split_size_mb:32", [], "2.0"),
    "split-full": ("random", 12, "max_split_size_mb:40", ["--room", "600"], "2.0"),
    "split-waves-full": ("waves", 13, "max_split_size_mb:24", ["--room", "400"], "2.0"),
    "roundup": ("random", 1, "roundup_power2_divisions:4", [], "2.0"),
    "roundup-list": ("waves", 3, "roundup_power2_divisions:[1:8,16:4,64:2,>:1]", [], "2.1"),
    "gc": ("random", 16, "garbage_collection_threshold:0.4", ["--fraction", "0.02"], "2.0"),
    "gc-waves": ("waves", 17, "garbage_collection_threshold:0.6,max_split_size_mb:32", ["--fraction", "0.015"], "2.0"),
    "fraction": ("random", 18, "", ["--fraction", "0.02"], "2.0"),
    "full": ("random", 19, "", ["--room", "360"], "2.0"),
    "full-again": ("random", 20, "", ["--room", "300"], "2.0"),
    "full-waves": ("waves", 21, "", ["--room", "400"], "2.0"),
    "streams": ("streams", 22, "", [], "2.0"),
    "streams-full": ("streams", 23, "", ["--room", "200"], "2.0"),
    "graphs": ("graphs", 24, "", [], "2.0"),
    "graphs-again": ("graphs", 25, "", [], "2.0"),
    "graphs-expandable": ("graphs", 26, EXPANDABLE, [], "2.5"),
    "pools": ("pools", 27, "", [], "2.5"),
    "pools-full": ("tight_pools", 33, "", ["--room", "220"], "2.5"),
    "cut": ("random", 28, "", ["--ring", "150"], "2.0"),
    "cut-expandable": ("random", 29, EXPANDABLE, ["--ring", "150"], "2.1"),
    "cut-model": ("model", 30, "", ["--ring", "400"], "2.0"),
    "large-segment": ("random", 31, "large_segment_size_mb:40,max_non_split_rounding_mb:60,max_split_size_mb:64", [], "2.11"),
}
LETTERS = {"alloc": "a", "free_requested": "r", "free_completed": "f", "segment_alloc": "+", "segment_free": "-",
           "segment_map": "m", "segment_unmap": "u", "oom": "o"}
STATES = {"inactive": 0, "active_allocated": 1, "active_pending_free": 2}


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def is_emptying(entry: dict) -> bool:
    return any(frame["name"] == "empty_cache" for frame in entry.get("frames", ()))


def record(run: dict, conf: str) -> str:
    """The text of a record; addresses and streams are made the same in every run."""
    snapshot, stats = run["snapshot"], run["stats"]
    entries = [entry for entry in snapshot["device_traces"][0] if entry["action"] in LETTERS]
    segments = sorted(snapshot["segments"], key=lambda segment: segment["address"])
    streams = sorted({entry["stream"] for entry in entries} | {segment["stream"] for segment in segments} | {0})
    pools = [(0, 0)] + sorted({tuple(segment.get("segment_pool_id", (0, 0))) for segment in segments}
                              | {tuple(entry.get("pool_id", (0, 0))) for entry in entries})
    pools = list(dict.fromkeys(pools))  # the program's own first
    base = min([entry["addr"] for entry in entries if entry["action"] != "oom"]
               + [segment["address"] for segment in segments], default=0)
    lines = [f"torch {run['torch']}", f"conf {conf}", f"fraction {run['fraction']}",
             f"room {run['room'][0]} {run['room'][1]}",
             "peaks " + " ".join(str(stats[f"{name}_bytes.all.peak"]) for name in
                                 ("allocated", "reserved", "requested", "inactive_split")),
             f"ends {stats['num_alloc_retries']} {stats['num_ooms']}", f"streams {len(streams)}", f"pools {len(pools)}"]
    divisions = list(snapshot.get("allocator_settings", {}).get("roundup_power2_divisions", {}).values())
    if any(divisions):
        lines.append("divisions " + " ".join(map(str, divisions)))
    for segment in segments:
        lines.append(f"s {segment['address'] - base:x} {segment['total_size']} {streams.index(segment['stream'])} "
                     f"{pools.index(tuple(segment.get('segment_pool_id', (0, 0))))} "
                     f"{int(segment['segment_type'] == 'small')} {int(segment.get('is_expandable', False))}")
        lines += [f"b {block['size']} {block['requested_size']} {STATES[block['state']]}" for block in segment["blocks"]]
    for entry in entries:
        where = entry["device_free"] if "device_free" in entry else entry["addr"] - base
        pool = pools.index(tuple(entry["pool_id"])) if "pool_id" in entry else -1
        lines.append(f"{LETTERS[entry['action']]} {where:x} {entry['size']} {streams.index(entry['stream'])} {pool}"
                     + (" e" if entry["action"] in ("segment_free", "segment_unmap") and is_emptying(entry) else ""))
    return "\n".join(lines) + "\n"


def essence(text: str) -> list[list[str]]:
    """A record without addresses, which depend on the order in which the driver was asked for other things."""
    return [words[:1] + words[2:] if words[0] in ("s", *LETTERS.values()) else words for words in map(str.split, text.splitlines())]


def rehearse(plimsoll: str, python: str, words: list[str], conf: str, folder: str) -> None:
    environment = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=conf, PYTHONHASHSEED="0")
    environment.pop("PYTORCH_ALLOC_CONF", None)
    if not conf:
        del environment["PYTORCH_CUDA_ALLOC_CONF"]
    run = subprocess.run([plimsoll, "rehearse", "--card", "RTX 4090", "--until", "exit", "--receipt",
                          os.path.join(folder, "receipt.json"), "--", python, *words],
                         env=environment, capture_output=True, text=True, timeout=300)
    if run.returncode or not os.path.exists(words[-1] if words[-1].endswith(".pickle") else os.path.join(folder, "run.pickle")):
        raise SystemExit(f"{words}: status {run.returncode}\n{run.stderr[-2000:]}")


def run_case(plimsoll: str, python: str, name: str) -> str:
    kind, seed, conf, options, _ = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run.pickle")
        rehearse(plimsoll, python, [os.path.join(HERE, "program.py"), kind, str(seed), out, *options], conf, folder)
        with open(out, "rb") as file:
            return record(pickle.load(file), conf)


def run_raw(plimsoll: str, python: str, program: list[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run.pickle")
        rehearse(plimsoll, python, [os.path.join(HERE, program[0]), *program[1:], out], "", folder)
        with open(out, "rb") as file:
            return file.read()


def shortened(filename: str) -> str:
    return filename.rpartition("site-packages/")[2].replace(HERE + "/", "")


def without_folders(raw: bytes) -> bytes:
    """The same pickle of protocol 2, opcode by opcode, but for the folders in the names of files."""
    places = [(place, opcode.name, value) for opcode, value, place in pickletools.genops(raw)] + [(len(raw), "", None)]
    parts = []
    for (place, name, value), (end, _, _) in zip(places, places[1:]):
        is_path = name == "BINUNICODE" and value.endswith(".py")
        text = shortened(value).encode() if is_path else b""
        parts.append(b"X" + len(text).to_bytes(4, "little") + text if is_path else raw[place:end])
    return b"".join(parts)


def run_snapshot(plimsoll: str, python: str, program: list[str]) -> dict:
    """The snapshot as PyTorch wrote it, but for the folders in the names of files."""
    snapshot = pickle.loads(run_raw(plimsoll, python, program))
    owners = [entry for trace in snapshot["device_traces"] for entry in trace] + snapshot["segments"]
    for owner in owners + [block for segment in snapshot["segments"] for block in segment["blocks"]]:
        for frame in owner.get("frames", ()):
            frame["filename"] = shortened(frame["filename"])
    return snapshot


def write_pickle(name: str, data: object, protocol: int) -> None:
    with open(os.path.join(TRACES, name), "wb") as file:
        pickle.dump(data, file, protocol=protocol)


STEPS = ["leak-every-third", "clean-ring"]


def write_snapshots(plimsoll: str, python: str, version: str) -> None:
    for kind in STEPS:
        write_pickle(f"steps-{kind}-{version}.pickle", run_snapshot(plimsoll, python, ["steps.py", kind]), 4)
    snapshot = run_snapshot(plimsoll, python, ["train.py", "320"])
    write_pickle(f"train-{version}.pickle", snapshot, 4)
    write_pickle(f"train-{version}.segments.pickle", snapshot["segments"], 2)
    with open(os.path.join(TRACES, f"train-{version}.cpp.pickle"), "wb") as file:
        file.write(without_folders(run_raw(plimsoll, python, ["train.py", "320", "--cpp"])))
    with open(os.path.join(TRACES, f"train-{version}.json.gz"), "wb") as file:
        file.write(gzip.compress(json.dumps(snapshot).encode(), mtime=0))
    write_pickle(f"train-more-{version}.pickle", run_snapshot(plimsoll, python, ["train.py", "350"]), 4)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--snapshots", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("pythons", nargs="+", metavar="VERSION=PYTHON")
    options = parser.parse_args()
    different = 0
    for version, python in (text.split("=", 1) for text in options.pythons):
        if options.snapshots:
            write_snapshots(options.plimsoll, python, version)
            continue
        for name, case in CASES.items():
            if options.only not in f"{name}-{version}" or numbers(version) < numbers(case[4]):
                continue
            text = run_case(options.plimsoll, python, name)
            path = os.path.join(TRACES, f"{name}-{version}.trace")
            if options.write:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            else:
                with open(path, encoding="utf-8") as file:
                    is_same = essence(text) == essence(file.read())
                different += not is_same
                if not is_same:
                    print(f"{name}-{version}: PyTorch does something else now")
            print(f"{name}-{version}: {len(text.splitlines())} lines", flush=True)
    return different > 0


if __name__ == "__main__":
    sys.exit(main())

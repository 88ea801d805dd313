#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What `plimsoll rehearse` charges, beside the buffers that the stock llama.cpp prints.

    rehearse.py --plimsoll PROGRAM --probe PROGRAM --vgpu DIR --engine DIR --models-dir DIR [MODEL...] [-v]

Models of many architectures are loaded from hollow files on virtual cards. What they hold with cudaMalloc when the
context is ready must be the sum of the buffers the engine prints, to its own 0.01 MiB for each.

Exit status: 0 all of it holds, 1 it does not, 77 the engine is not there (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import engine

MIB = 1 << 20
ROUNDED_MIB = 0.0051
MIN_ARCHITECTURES = 12
BUFFER = re.compile(r"^\w+:\s+CUDA(\d+)\s+(?:model|KV|RS|compute|output) buffer size =\s*([\d.]+) MiB")
BIG_S, BIG_ANONYMOUS_MIB = 10, 700


class Rehearsal:
    """One run of the probe under `plimsoll rehearse`."""

    def __init__(self, options: argparse.Namespace, card: str, path: str, *flags: str) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "CUDA_VISIBLE_DEVICES"}
        with tempfile.TemporaryDirectory() as folder:
            receipt = os.path.join(folder, "receipt.json")
            command = [options.plimsoll, "rehearse", "--card", card, "--receipt", receipt, "--",
                       options.probe, options.engine, path, *flags]
            started = time.monotonic()
            done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace",
                                  timeout=engine.ENGINE_TIMEOUT_S)
            self.seconds = time.monotonic() - started
            self.stdout, self.status, self.stderr = done.stdout, done.returncode, done.stderr
            with open(receipt, encoding="utf-8") as file:
                self.receipt = json.load(file)

    def printed(self) -> dict[int, list[float]]:
        found: dict[int, list[float]] = {}
        for line in self.stdout.splitlines():
            match = BUFFER.match(line)
            if match:
                found.setdefault(int(match.group(1)), []).append(float(match.group(2)))
        return found

    def charged_mib(self, device: int, what: str, lines: str = "end_lines") -> float:
        return sum(line["bytes"] for line in self.receipt["devices"][device][lines] if line["what"] == what) / MIB


def objections(run: Rehearsal, n_cards: int) -> list[str]:
    """What differs between the engine's log and the ledger."""
    wrong = []
    printed = run.printed()
    if "probe: ready" not in run.stdout:
        return [f"not ready: {(run.stdout + run.stderr)[-300:]}"]
    for device in range(n_cards):
        buffers = printed.get(device, [])
        charged = run.charged_mib(device, "cudaMalloc")
        if abs(sum(buffers) - charged) > ROUNDED_MIB * max(len(buffers), 1):
            wrong.append(f"CUDA{device}: the engine prints {sum(buffers):.2f} MiB, the ledger has {charged:.4f}")
        if run.charged_mib(device, "CUDA context") <= 0:
            wrong.append(f"CUDA{device}: no context was charged")
    wrong += [f"{w['kind']}: {w['what']}" for w in run.receipt["warnings"]]
    return wrong


def one_per_architecture(options: argparse.Namespace) -> list[str]:
    chosen: dict[str, str] = {}
    for path in engine.models(options):
        arch = engine.run_fit(options, path, ["--budget", "1TiB"])["model"]["arch"]
        if arch not in chosen:
            chosen[arch] = path
    return list(chosen.values())


def compare(options: argparse.Namespace) -> list[str]:
    wrong: list[str] = []
    n_same = 0
    for path in one_per_architecture(options):
        for card, n_cards, flags in (("H200 NVL", 1, ["-ngl", "99", "-c", "4096"]),
                                     ("2x H200 NVL", 2, ["-ngl", "99", "-c", "8192", "-fa", "off"])):
            run = Rehearsal(options, card, path, *flags)
            if "probe: ready" not in run.stdout and not run.receipt["oom"]:
                continue  # the engine refuses this model
            found = objections(run, n_cards)
            if run.receipt["oom"] and run.status != 0:
                continue  # larger than the cards
            n_same += n_cards == 1 and not found
            wrong += [f"{engine.name_of(path)} on {card}: {word}" for word in found]
    print(f"{n_same} architectures: what is charged with cudaMalloc is what the engine prints")
    if n_same < MIN_ARCHITECTURES and not options.models:
        wrong.append(f"fewer than {MIN_ARCHITECTURES} architectures could be compared")
    return wrong


def out_of_memory(options: argparse.Namespace) -> list[str]:
    path = os.path.join(options.models_dir, "llama-3.1-8b-Q4_K_M.gguf")
    run = Rehearsal(options, "RTX 4060", path, "-ngl", "99", "-c", "65536")
    at = run.receipt["oom_at"]
    wrong = []
    if "cudaMalloc failed: out of memory" not in run.stdout + run.stderr:
        wrong.append("the engine does not say that cudaMalloc failed")
    if not at or at["device"] != "gpu0" or at["asked_bytes"] != 8192 * MIB or at["free_bytes"] >= at["asked_bytes"]:
        wrong.append(f"oom_at is {at}")
    if run.status != 3 or run.receipt["exit_code"] != 3:
        wrong.append(f"exit status {run.status}, not the program's own 3")
    print(f"out of memory: {at}")
    return wrong


def beside_the_bill(options: argparse.Namespace) -> list[str]:
    """`plimsoll check` finds the bill's own lines in the receipt, and the engine's log says the same."""
    wrong = []
    for name in ("llama-3.1-8b", "mamba-2.8b", "gemma-3-4b"):
        path = os.path.join(options.models_dir, f"{name}-Q4_K_M.gguf")
        flags = ["-ngl", "99", "-c", "8192", "-fa", "on"]
        with tempfile.TemporaryDirectory() as folder:
            receipt = os.path.join(folder, "receipt.json")
            run = subprocess.run([options.plimsoll, "rehearse", "--card", "RTX 4090", "--receipt", receipt, "--log",
                                  os.path.join(folder, "log"), "--", options.probe, options.engine, path, *flags],
                                 capture_output=True, text=True, check=False, timeout=engine.ENGINE_TIMEOUT_S)
            done = subprocess.run([options.plimsoll, "check", path, receipt, *flags, "-np", "1", "--n-outputs-max", "512",
                                   "--swa-full"],
                                  capture_output=True, text=True, check=False)
        if done.returncode != 0:
            wrong.append(f"{name}: {(done.stdout + done.stderr)[-600:]}")
        match = re.search(r"prints the same for (\d+) of (\d+) buffers", run.stderr)
        if not match or match[1] != match[2]:
            wrong.append(f"{name}: the log and the ledger differ: {run.stderr[-600:]}")
    print("check: the bill's lines are those of the receipt")
    return wrong


def big(options: argparse.Namespace) -> list[str]:
    path = os.path.join(options.models_dir, "llama-3.3-70b-Q4_K_M.gguf")
    run = Rehearsal(options, "A100 80GB PCIe", path, "-ngl", "99", "-c", "8192")
    anonymous = run.receipt["host"]["peak_anonymous_bytes"] / MIB
    print(f"70B, hollow: {run.seconds:.2f} s, {anonymous:.0f} MiB anonymous")
    wrong = objections(run, 1)
    if run.seconds > BIG_S or anonymous > BIG_ANONYMOUS_MIB:
        wrong.append(f"70B: {run.seconds:.1f} s, {anonymous:.0f} MiB")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare what a rehearsal charges with what llama.cpp prints.")
    engine.add_arguments(parser)
    options = parser.parse_args()
    if not engine.is_there(options):
        return 77
    wrong = beside_the_bill(options) + compare(options) + out_of_memory(options) + big(options)
    for word in wrong:
        print(f"WRONG {word}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

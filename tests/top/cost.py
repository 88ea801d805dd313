#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The cost of plimsoll top: its memory, and its processor time for each look, with 200 processes on 16 cards.

    cost.py --plimsoll PROGRAM --nvml SCENE_NVML --model FILE.gguf [--looks N] [--most-mib N] [--most-ms N]

Processor time is counted by the system in hundredths of a second, so it takes many looks to see one percent of a core:
10 ms for a look each second. What --most-mib and --most-ms say is the limit; 77: there is no tmux here.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import test

N_CARDS, N_PROCESSES, INTERVAL_S, GIB = 16, 200, 0.5, 1 << 30
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def write_scene() -> str:
    lines = ["source: made up, for its size: proc_pid_stat(5)", "@user anna 1000", "@user bert 1001"]
    for i in range(N_PROCESSES):
        lines += [f"@process {20000 + 7 * i}", f"args = /opt/venv/bin/python worker.py --rank {i} --config /home/anna/work/config.yaml",
                  "program = /usr/bin/python3.11", "folder = /home/anna/work", f"uid = {1000 + i % 2}", f"age = {600 + i}",
                  "cpu = 12", "rss = 900 MiB", "fd 1 = /home/anna/work/worker.log", "fd 7 = /dev/nvidia0",
                  "map = /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14", "map = /opt/venv/lib/libtorch_cuda.so"]
    lines.append("@nvml")
    for card in range(N_CARDS):
        lines += ["card", "name NVIDIA H100 80GB HBM3", f"uuid GPU-{card:08}-2222-3333-4444-555555555555",
                  f"pci 0000:{card + 1:02x}:00.0", "capability 9 0", f"memory {80 * GIB} {GIB} {20 * GIB}", "load 50 20", "temperature 55"]
        lines += [f"compute {20000 + 7 * i} {4 * GIB + i * 4096}" for i in range(card, N_PROCESSES, N_CARDS)]
        lines += [f"utilization {20000 + 7 * i} {i % 100} 1" for i in range(card, N_PROCESSES, N_CARDS)]
    return "\n".join(lines) + "\n"


def change(nvml: pathlib.Path, before: str, turn: int) -> None:
    """All processes hold something else than before: each row of the screen is another."""
    lines = []
    for line in before.splitlines():
        words = line.split()
        if words and words[0] == "compute":
            line = f"compute {words[1]} {int(words[2]) + turn * 8 * (1 << 20)}"
        lines.append(line)
    new = nvml.with_suffix(".new")
    new.write_text("\n".join(lines) + "\n")
    new.rename(nvml)


def processor_ms(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / TICKS_PER_S


def peak_mib(pid: int) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def clock(terminal: test.Terminal) -> str:
    return terminal.lines()[0].split()[-1]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--looks", type=int, default=60)
    parser.add_argument("--most-mib", type=float, default=12)
    parser.add_argument("--most-ms", type=float, default=10)
    options = parser.parse_args()
    if not shutil.which("tmux"):
        print("no tmux here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        place = test.Place(options, folder, write_scene())
        nvml = pathlib.Path(place.environment["NVML_SCENE"])
        before = nvml.read_text()
        with place.terminal(120, 40) as terminal:
            terminal.run(f"exec $plimsoll top --interval {INTERVAL_S}")
            terminal.until("plimsoll top", "200 processes")
            pid = int(terminal.call("display-message", "-p", "#{pane_pid}"))
            begin_ms, n_seen, last = processor_ms(pid), 0, clock(terminal)
            while n_seen < options.looks * INTERVAL_S:  # seconds that the program has drawn
                change(nvml, before, n_seen)
                terminal.until_true("the next second", lambda: clock(terminal) != last)
                last, n_seen = clock(terminal), n_seen + 1
            each_ms = (processor_ms(pid) - begin_ms) / (n_seen / INTERVAL_S)
            mib = peak_mib(pid)
    print(f"{N_PROCESSES} processes on {N_CARDS} cards: {each_ms:.1f} ms of processor time for a look, {mib:.1f} MiB at most")
    return 0 if each_ms <= options.most_ms and mib <= options.most_mib else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.SubprocessError as error:
        sys.exit(str(error))

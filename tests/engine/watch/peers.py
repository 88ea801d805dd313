#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`plimsoll ps` beside other monitors, unmodified, in one rehearsal: each figure that they show is that of ps.

    peers.py --plimsoll PROGRAM --ledger PROGRAM --python VENV/bin/python --monitors DIR

--python has PyTorch, --monitors is what fetch.sh makes.

Exit status: 0 they agree, 1 they do not, 77 PyTorch or all monitors are missing (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field

import cast

HERE = pathlib.Path(__file__).resolve().parent
MIB, GIB = 1 << 20, 1 << 30
SKIPPED = 77
N_PROCESSES = 3


@dataclass
class Shown:
    """What a monitor shows of a card. Of a figure that it does not show there is no entry."""
    figures: dict[str, object] = field(default_factory=dict)
    processes: dict[int, dict[str, object]] = field(default_factory=dict)


class Peer:
    """`read` returns what it shows of each card; `as_shown` writes a figure of ps as it does."""

    def __init__(self, name: str, is_there: Callable[[], bool], read: Callable[[], list[Shown]],
                 as_shown: Callable[[str, int], object]) -> None:
        self.name, self.is_there, self.read, self.as_shown = name, is_there, read, as_shown


def output_of(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=cast.MOST_S)
    if done.returncode:
        raise RuntimeError(f"{command[0]} fails: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


# --- the monitors ---


def in_mib(_: str, value: int) -> int:
    return value // MIB


def read_gpustat(options: argparse.Namespace) -> list[Shown]:
    cards = json.loads(output_of([f"{options.monitors}/bin/gpustat", "--json"]))["gpus"]
    return [Shown({"uuid": card["uuid"], "total": card["memory.total"], "used": card["memory.used"], "percent": card["utilization.gpu"]},
                  {process["pid"]: {"bytes": process["gpu_memory_usage"], "user": process["username"],
                                    "command": " ".join(process["full_command"])} for process in card["processes"]})
            for card in cards]


def read_nvitop(options: argparse.Namespace) -> list[Shown]:
    cards = json.loads(output_of([f"{options.monitors}/bin/python", str(HERE / "nvitop_figures.py")]))
    return [Shown({key: card[key] for key in ("uuid", "total", "used", "free", "percent")},
                  {process["pid"]: {"bytes": process["bytes"], "user": process["user"], "percent": process["percent"],
                                    "command": " ".join(process["command"])} for process in card["processes"]})
            for card in cards]


NVITOP_CARD = re.compile(r"│\s*([\d.]+[KMG]iB) / ([\d.]+[KMG]iB) │\s*(\d+)%")
NVITOP_PROCESS = re.compile(r"^│\s*(\d+)\s+(\d+) C\s+(\S+)\s+([\d.]+[KMG]iB)\s+(\d+)\s")


def as_nvitop_writes(_: str, value: int) -> str:
    """Four digits at most: nvitop/api/utils.py, bytes2human(); below 1000 MiB one decimal."""
    return f"{value / GIB:.2f}GiB" if value >= 20 * GIB else f"{value / MIB:.1f}MiB" if value < 1000 * MIB else f"{round(value / MIB)}MiB"


def read_nvitop_screen(options: argparse.Namespace) -> list[Shown]:
    cards: list[Shown] = []
    for line in output_of([f"{options.monitors}/bin/nvitop", "--once"]).splitlines():
        if found := NVITOP_CARD.search(line):
            cards.append(Shown({"used": found[1], "total": found[2], "percent": int(found[3])}))
        elif found := NVITOP_PROCESS.match(line):
            cards[int(found[1])].processes[int(found[2])] = {"user": found[3], "bytes": found[4], "percent": int(found[5])}
    return cards


def read_nvidia_smi(_: argparse.Namespace) -> list[Shown]:
    cards, by_uuid = [], {}
    query = "--query-gpu=uuid,memory.total,memory.used,memory.free,memory.reserved,utilization.gpu"
    for line in output_of(["nvidia-smi", query, "--format=csv,noheader,nounits"]).splitlines():
        uuid, *numbers = line.split(", ")
        by_uuid[uuid] = Shown({"uuid": uuid, **dict(zip(("total", "used", "free", "reserved", "percent"), map(int, numbers)))})
        cards.append(by_uuid[uuid])
    for line in output_of(["nvidia-smi", "--query-compute-apps=gpu_uuid,pid,used_gpu_memory", "--format=csv,noheader,nounits"]).splitlines():
        uuid, pid, mib = line.split(", ")
        by_uuid[uuid].processes[int(pid)] = {"bytes": int(mib)}
    return cards


NVTOP_CARD = re.compile(r"GPU\[[ |]*(\d+)%\] MEM\[[ |]*([\d.]+)Gi/([\d.]+)Gi\]")
NVTOP_PROCESS = re.compile(r"^\s*(\d+)\s+(\S+)\s+(\d+)\s+Compute\s+(\d+)%\s+(\d+)MiB\s+\d+%\s+\d+%\s+\d+MiB\s+(.*?)\s*$")


def as_nvtop_writes(key: str, value: int) -> object:
    return value // MIB if key == "bytes" else f"{value / GIB:.3f}"


def read_nvtop(options: argparse.Namespace) -> list[Shown]:
    """nvtop shows itself on a terminal only. It asks NVML by the older call, in which the reserve counts as used."""
    terminal = ["tmux", "-L", f"plimsoll-{os.getpid()}", "-f", "/dev/null"]
    size = ["-x", "240", "-y", "40"]
    screen = ""

    def is_full() -> bool:
        nonlocal screen
        screen = output_of([*terminal, "capture-pane", "-p"])
        return screen.count(" Compute ") >= N_PROCESSES

    subprocess.run([*terminal, "new-session", "-d", *size, f"{options.monitors}/nvtop/usr/bin/nvtop", "-p"], check=True,
                   env=dict(os.environ, XDG_CONFIG_HOME=options.folder, HOME=options.folder))
    try:
        cast.wait_for("nvtop shows the processes", is_full)
    finally:
        subprocess.run([*terminal, "kill-server"], check=False)
    cards: list[Shown] = []
    for line in screen.splitlines():
        for percent, used, total in NVTOP_CARD.findall(line):
            cards.append(Shown({"percent": int(percent), "used and reserved": used, "total": total}))
        if found := NVTOP_PROCESS.match(line):
            cards[int(found[3])].processes[int(found[1])] = {"user": found[2], "percent": int(found[4]),
                                                             "bytes": int(found[5]), "command": found[6]}
    return cards


def can_run_nvtop(options: argparse.Namespace) -> bool:
    program = f"{options.monitors}/nvtop/usr/bin/nvtop"
    return shutil.which("tmux") is not None and os.path.exists(program) and \
        subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


def peers(options: argparse.Namespace) -> list[Peer]:
    def has(program: str) -> Callable[[], bool]:
        return lambda: os.path.exists(f"{options.monitors}/bin/{program}")

    return [Peer("nvidia-smi", lambda: True, lambda: read_nvidia_smi(options), in_mib),
            Peer("gpustat", has("gpustat"), lambda: read_gpustat(options), in_mib),
            Peer("nvitop", has("nvitop"), lambda: read_nvitop(options), lambda _, value: value),
            Peer("nvitop --once", has("nvitop"), lambda: read_nvitop_screen(options), as_nvitop_writes),
            Peer("nvtop", lambda: can_run_nvtop(options), lambda: read_nvtop(options), as_nvtop_writes)]


# --- ps ---


def read_ps(options: argparse.Namespace) -> list[Shown]:
    told = json.loads(output_of([options.plimsoll, "ps", "--json"]))
    return [Shown({"uuid": card["uuid"], "total": card["total_bytes"], "used": card["used_bytes"], "free": card["free_bytes"],
                   "reserved": card["reserved_bytes"], "used and reserved": card["used_bytes"] + card["reserved_bytes"]},
                  {process["pid"]: {"bytes": process["bytes"], "user": process["user"], "command": process["command"]}
                   for process in card["processes"]})
            for card in told["cards"]]


class Comparison:
    def __init__(self) -> None:
        self.n, self.wrong = 0, 0

    def same(self, what: str, shown: object, wanted: object) -> None:
        self.n += 1
        if shown != wanted:
            self.wrong += 1
            print(f"  {what}: it shows {shown!r}, ps {wanted!r}")

    def card(self, peer: Peer, number: int, shown: Shown, ps: Shown) -> None:
        for key, value in shown.figures.items():
            if key != "percent":
                wanted = ps.figures[key]
                self.same(f"card {number}, {key}", value, wanted if isinstance(wanted, str) else peer.as_shown(key, wanted))
        self.same(f"card {number}, processes", sorted(shown.processes), sorted(ps.processes))
        for pid in sorted(set(shown.processes) & set(ps.processes)):
            for key, value in shown.processes[pid].items():
                if key != "percent":
                    wanted = ps.processes[pid][key]
                    self.same(f"process {pid}, {key}", value, wanted if isinstance(wanted, str) else peer.as_shown(key, wanted))

    def load(self, number: int, shown: Shown, busy: set[int]) -> None:
        """Monitors look at other times: that something ran is common to them, and that nothing did."""
        if "percent" in shown.figures:
            self.busy(f"card {number}", shown.figures["percent"], bool(busy & set(shown.processes)))
        for pid, process in shown.processes.items():
            if "percent" in process:
                self.busy(f"process {pid}", process["percent"], pid in busy)

    def busy(self, what: str, percent: object, is_busy: bool) -> None:
        self.same(f"{what} is busy ({percent} %)", 0 < int(str(percent)) <= 100, is_busy)


def compare(peer: Peer, ps: list[Shown], busy: set[int]) -> int:
    shown = peer.read()
    comparison = Comparison()
    comparison.same("cards", len(shown), len(ps))
    for number, (its, ours) in enumerate(zip(shown, ps)):
        comparison.card(peer, number, its, ours)
        comparison.load(number, its, busy)
    print(f"{peer.name}: {comparison.n} figures, {comparison.wrong} differ" if comparison.wrong else f"{peer.name}: {comparison.n} figures agree")
    return comparison.wrong


def direct(options: argparse.Namespace) -> int:
    with cast.Cast(options.python, options.ledger, options.folder) as scene:
        scene.hold("busy", "--device", "cuda:0", "--mib", "500", "--busy")
        scene.hold("idle", "--device", "cuda:0", "--mib", "130")
        scene.hold("second card", "--device", "cuda:1", "--mib", "777")
        scene.wait_until_ready("busy", "idle", "second card")
        ps = read_ps(options)
        wrong, n_there = 0, 0
        for peer in peers(options):
            if not peer.is_there():
                print(f"{peer.name}: left out, it is not here")
                continue
            n_there += peer.name != "nvidia-smi"
            wrong += compare(peer, ps, {scene.pids["busy"]})
        after = read_ps(options)
        if ps != after:
            print(f"the memory has changed meanwhile: {ps}, then {after}")
            wrong += 1
        if not ps[0].processes or not ps[1].processes:
            print("nobody holds memory")
            wrong += 1
    return 1 if wrong else 0 if n_there else SKIPPED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("plimsoll", "ledger", "python", "monitors"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--folder", help=argparse.SUPPRESS) # in the rehearsal
    options = parser.parse_args()
    if options.folder:
        return direct(options)
    if not os.path.exists(options.python):
        print(f"skipped: no PyTorch in {options.python}; tests/engine/fetch_torch.sh brings it")
        return SKIPPED
    if not os.path.exists(options.monitors):
        print(f"skipped: no monitors in {options.monitors}; tests/engine/watch/fetch.sh brings them")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([options.plimsoll, "rehearse", "--card", "2x RTX 4090", "--until", "exit", "-q", "--", sys.executable, __file__,
                               *sys.argv[1:], "--folder", folder], check=False, timeout=3 * cast.MOST_S,
                              env=dict(os.environ, XDG_STATE_HOME=folder)).returncode


if __name__ == "__main__":
    sys.exit(main())

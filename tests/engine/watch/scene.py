#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Who holds the memory of two cards, and getting it back: PyTorch and llama.cpp on the virtual GPU, with `plimsoll ps` and
`plimsoll free` beside them.

    scene.py --plimsoll P --ledger P --follow P --python VENV/bin/python --probe P --engine DIR --models-dir DIR

--python has PyTorch, --engine is llama.cpp. In the scene are a training run at work, a program whose memory grows by 50
MiB a second, one that has lost its parent, a server that has lost it too, one that has lost its main thread, a server of llama.cpp that
waits, and another program of it; a process that has ended and is not waited for, and one that is gone, whose memory is still held;
and memory of which nobody knows whose it is.

Exit status: 0 all of it is told truly, 1 it is not, 77 PyTorch or llama.cpp is missing, or this is a container (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import cast

MIB = cast.MIB
SKIPPED = 77
IDLE_AFTER = "4s"
MOST_OFF = 0.10 # of the time until the card is full
FOLLOW_S = 10
INITIAL_PID_NAMESPACE = "pid:[4026531836]" # include/uapi/linux/nsfs.h: PID_NS_INIT_INO
# Who is in the scene: whether it is stale, and the reason that ps gives.
VERDICTS = {
    "training": (False, "active"),
    "growing": (False, None), # at work or idle, but somebody has it
    "orphan": (True, "orphan"),
    "daemon": (None, "on_purpose"), # it may be meant to outlive who started it
    "headless": (True, "defunct"),
    "server": (False, "server"),
    "tool": (False, "attached"),
    "defunct": (True, "defunct"),
    "vanished": (True, "gone"),
}


class Watcher:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.wrong = 0

    def need(self, is_right: bool, what: str) -> None:
        if not is_right:
            self.wrong += 1
            print(f"  {what}")

    def plimsoll(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.options.plimsoll, *arguments], capture_output=True, text=True, check=False, timeout=cast.MOST_S)

    def ps(self) -> dict:
        done = self.plimsoll("ps", "--json", "--idle-after", IDLE_AFTER)
        if done.returncode:
            raise RuntimeError(f"ps fails: {done.stderr}")
        return json.loads(done.stdout)


def rows_of(told: dict) -> dict[int, dict]:
    return {row["pid"]: dict(row, card=number) for number, card in enumerate(told["cards"]) for row in card["processes"]}


def check_bytes(watcher: Watcher, told: dict, account: dict, unknown: dict[int, int]) -> None:
    """Every byte of the ledger is in a row of ps, or told to be of nobody."""
    for number, (card, its) in enumerate(zip(told["cards"], account["cards"])):
        told_bytes = {key: card[f"{key}_bytes"] for key in ("total", "used", "free", "reserved", "unattributed")}
        told_bytes["shown"] = sum(row["bytes"] for row in card["processes"])
        used, nobody = its["used"] + its["others"], unknown.get(number, 0)
        wanted = {"total": its["total"], "used": used, "free": its["total"] - its["reserved"] - used, "reserved": its["reserved"],
                  "unattributed": nobody, "shown": used - nobody}
        watcher.need(told_bytes == wanted, f"card {number}: ps has {told_bytes}, the ledger {wanted}")
    shown_rows = {(row["pid"], row["card"]): row["bytes"] for row in rows_of(told).values()}
    in_ledger = {(row["pid"], row["card"]): row["used"] for row in account["processes"]}
    watcher.need(shown_rows == in_ledger, f"ps has {shown_rows}, the ledger {in_ledger}")


def check_verdicts(watcher: Watcher, told: dict, pids: dict[str, int]) -> None:
    rows = rows_of(told)
    for name, (stale, reason) in VERDICTS.items():
        row = rows.get(pids[name], {})
        is_right = row.get("stale") == stale and reason in (None, row.get("reason"))
        watcher.need(is_right, f"{name} ({pids[name]}): stale {row.get('stale')}, {row.get('reason')}: {row.get('why')}")
        print(f"{name:9} {row.get('bytes', 0) // MIB:5} MiB  {row.get('framework') or '-':10} {row.get('why')}")
    gone = rows[pids["vanished"]]
    watcher.need(gone["gone"] and "no process left to end" in gone["why"], f"vanished is not told to be gone: {gone}")
    for name in ("training", "growing", "orphan"):
        watcher.need(rows[pids[name]]["framework"] == "PyTorch", f"{name}: framework {rows[pids[name]]['framework']}")
    for name in ("server", "tool"):
        row = rows[pids[name]]
        is_right = row["framework"] == "llama.cpp" and any(model.endswith(".gguf") for model in row["models"])
        watcher.need(is_right, f"{name}: {row['framework']}, {row['models']}")


def check_time_to_full(watcher: Watcher, seen: dict, full_file: pathlib.Path) -> None:
    """`seen` is what the watch said; the truth is when the program found the card full."""
    cast.wait_for("the card is full", full_file.exists)
    true_s = float(full_file.read_text()) - seen["taken_unix_ms"] / 1000
    growth = seen["cards"][1]["growth"]
    is_right = growth["full_s"] > 0 and abs(growth["full_s"] - true_s) <= MOST_OFF * true_s
    watcher.need(is_right, f"full in {growth}, really in {true_s:.1f} s")
    print(f"full in {growth['full_s']} s ({growth['bytes_per_min'] / MIB:.0f} MiB/min, {growth['trend']}), really in {true_s:.1f} s")
    watcher.need(seen["cards"][0]["growth"]["full_s"] < 0, f"card 0 does not grow: {seen['cards'][0]}")


def check_free(watcher: Watcher, scene: cast.Cast) -> None:
    before = scene.account()
    done = watcher.plimsoll("free", "--stale", "--yes", "--idle-after", IDLE_AFTER)
    print(done.stdout + done.stderr)
    watcher.need(done.returncode == 0, f"free: exit status {done.returncode}")
    after = scene.account()
    left = {row["pid"] for row in after["processes"]}
    ended = [name for name, pid in scene.pids.items() if pid not in left]
    watcher.need(ended == ["orphan"], f"free has ended {ended}")
    watcher.need(not cast.stat_of(scene.pids["orphan"]), "the orphan is still there")
    orphan = [row["used"] for row in before["processes"] if row["pid"] == scene.pids["orphan"]]
    came_back = before["cards"][0]["used"] - after["cards"][0]["used"]
    watcher.need([came_back] == orphan, f"{came_back} came back, it held {orphan}")
    others = [row for row in before["processes"] if row["pid"] != scene.pids["orphan"]]
    watcher.need(others == after["processes"], f"others: {others}, then {after['processes']}")
    done = watcher.plimsoll("free", "--yes", str(scene.pids["headless"]))
    left = {row["pid"] for row in scene.account()["processes"]}
    watcher.need(done.returncode == 0 and scene.pids["headless"] not in left, f"headless, by its pid: {done.stdout}{done.stderr}")


def direct(options: argparse.Namespace) -> int:
    watcher = Watcher(options)
    full_file = pathlib.Path(options.folder, "full")
    with cast.Cast(options.python, options.ledger, options.folder) as scene:
        scene.hold("training", "--device", "cuda:0", "--mib", "300", "--busy")
        scene.orphan("orphan", "--device", "cuda:0", "--mib", "400")
        scene.orphan("daemon", "--device", "cuda:0", "--mib", "32", "--listen")
        scene.hold("headless", "--device", "cuda:0", "--mib", "64", "--headless")
        scene.llama("server", "llama-server", options, options.model, 0)
        scene.llama("tool", "llama-bench", options, options.model, 0)
        scene.wait_until_ready("training", "orphan", "daemon", "headless")
        scene.vanish("vanished", 1, 200)
        scene.defunct("defunct", 1, 100)
        subprocess.run([options.ledger, "others", "0", "77"], check=True)
        scene.hold("growing", "--device", "cuda:1", "--mib", "100", "--grow", "50", "--full", str(full_file))
        scene.wait_until_ready("growing")
        seen = json.loads(subprocess.run([options.follow, str(FOLLOW_S)], capture_output=True, text=True, check=True).stdout)

        def is_seen() -> bool:
            row = rows_of(watcher.ps()).get(scene.pids["orphan"], {})
            time.sleep(0.5)
            return row.get("stale") is True

        cast.wait_for("the orphan has been seen idle for long enough", is_seen)
        check_time_to_full(watcher, seen, full_file)
        told, account = watcher.ps(), scene.account()
        check_bytes(watcher, told, account, {0: 77 * MIB})
        check_verdicts(watcher, told, scene.pids)
        check_free(watcher, scene)
    print("all of it is told truly" if watcher.wrong == 0 else f"{watcher.wrong} wrong")
    return int(watcher.wrong > 0)


def missing(options: argparse.Namespace) -> str:
    if not os.path.exists(options.python):
        return f"no PyTorch in {options.python}; tests/engine/fetch_torch.sh brings it"
    if not os.path.isdir(options.engine):
        return f"no engine in {options.engine}; tests/engine/fetch.sh brings it"
    if os.readlink("/proc/self/ns/pid") != INITIAL_PID_NAMESPACE:
        return "in a container nobody can tell an orphan from what the container was started for"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("plimsoll", "ledger", "follow", "python", "probe", "engine", "models-dir"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--folder", help=argparse.SUPPRESS) # in the rehearsal
    options = parser.parse_args()
    options.model = os.path.join(options.models_dir, "qwen3-0.6b-Q4_K_M.gguf")
    if options.folder:
        return cast.under_a_reaper(lambda: direct(options))
    if why := missing(options):
        print(f"skipped: {why}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([options.plimsoll, "rehearse", "--card", "RTX 4090", "--card", "2GiB", "--until", "exit", "-q", "--",
                               sys.executable, __file__, *sys.argv[1:], "--folder", folder], check=False, timeout=3 * cast.MOST_S,
                              env=dict(os.environ, XDG_STATE_HOME=folder)).returncode


if __name__ == "__main__":
    sys.exit(main())

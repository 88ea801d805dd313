#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
plimsoll top in a real terminal: what its user sees, what the keys do, and how the terminal is left.

    test.py --plimsoll PROGRAM --nvml SCENE_NVML --model FILE.gguf [NAME...]

The machine is usual.scene. 77: there is no tmux here, or this build has no `top`.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from terminal import Terminal

HERE = pathlib.Path(__file__).parent
SCENE_MAKER = HERE.parent / "watch" / "scene.py"
SIDE_BY_SIDE = 4
ROW = re.compile(r"^[ *]\s*(\d+) ")


class Place:
    """A machine and the program."""

    def __init__(self, options: argparse.Namespace, folder: str, scene: str = ""):
        self.program = options.plimsoll
        scene = (scene or (HERE / "usual.scene").read_text()).replace("MODEL.gguf", os.path.basename(options.model))
        written = os.path.join(folder, "usual.scene")
        pathlib.Path(written).write_text(scene)
        subprocess.run([sys.executable, SCENE_MAKER, written, folder + "/machine"], check=True)
        models = os.path.join(folder, "machine", "root", "models")
        os.makedirs(models, exist_ok=True)
        os.symlink(os.path.abspath(options.model), os.path.join(models, os.path.basename(options.model)))
        self.environment = {
            "PLIMSOLL_NVML": options.nvml,
            "NVML_SCENE": folder + "/machine/nvml",
            "PLIMSOLL_SYSROOT": folder + "/machine/root",
            "XDG_STATE_HOME": folder + "/state",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "",
            "ASAN_OPTIONS": "detect_leaks=0", # ncurses keeps what it knows of the terminal until the end
            "plimsoll": self.program,
        }

    def terminal(self, columns: int = 120, lines: int = 30, **more: str) -> Terminal:
        return Terminal(columns, lines, {**self.environment, **more})


def pids_of(lines: list[str]) -> list[int]:
    """The processes of the table, from top to bottom."""
    return [int(found[1]) for found in map(ROW.match, lines) if found]


def pids(terminal: Terminal) -> list[int]:
    return pids_of(terminal.lines())


def is_whole(lines: list[str], height: int) -> bool:
    """One look at the screen has its first line, its last one and a process: a new size clears it and draws it again."""
    return len(lines) == height and lines[0].startswith(" plimsoll top") and " q quit" in lines[-1] and bool(pids_of(lines))


def start(terminal: Terminal, arguments: str = "") -> None:
    terminal.run(f"$plimsoll top {arguments}")
    terminal.until("plimsoll top", "F1 help", "41233")


def check_left(terminal: Terminal) -> None:
    """The shell has its terminal back, as it was."""
    terminal.until("ready>")
    terminal.until_true("the screen of before", lambda: terminal.state() == (False, True))
    terminal.run("stty -a | grep -cw -- -icanon; stty -a | grep -cw -- -echo; echo checked")
    assert "0\n0\nchecked" in terminal.until("\nchecked").replace("ready> ", ""), terminal.screen()


def test_start(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        seen = terminal.until("GeForce RTX 4090", "GeForce RTX 3090", "train.py", "15.00 GiB", "9999")
        assert "█" in seen and "[2J" in seen and "漢字" in seen, seen
        assert all(len(line) <= 120 for line in terminal.lines())
        assert pids(terminal)[0] == 41233
        terminal.keys("q")
        check_left(terminal)


def test_sort(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        terminal.keys(">")
        terminal.until("Sort by", "process id", "Enter: take it")
        for _ in range(6):
            terminal.keys("Down")
        terminal.until("> process id")
        terminal.keys("Enter")
        terminal.until_true("sorted by pid", lambda: pids(terminal) == sorted(pids(terminal)) and len(pids(terminal)) == 5)
        terminal.keys("-")
        terminal.until_true("the other way", lambda: pids(terminal) == sorted(pids(terminal), reverse=True))
        terminal.keys("F6")
        terminal.until("Sort by")
        terminal.keys("Escape")
        terminal.until("COMMAND", without=("Sort by",))


def test_filter(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        terminal.keys("/")
        terminal.until("Filter:")
        terminal.type("LLAMA")
        terminal.until("Filter: LLAMA", "llama-server", without=("train.py",))
        terminal.keys("Enter")
        terminal.until("F1 help", "4 hidden")
        terminal.keys("Escape")
        terminal.until("train.py", without=("hidden",))
        terminal.keys("2")
        terminal.until("llama-server", without=("train.py", "RTX 4090"))
        terminal.keys("Escape")
        terminal.until("train.py")
        terminal.keys("t")
        terminal.until("└─ python3 -c")


def test_detail(place: Place) -> None:
    with place.terminal(120, 40) as terminal:
        start(terminal)
        terminal.keys("/")
        terminal.type("llama")
        terminal.keys("Enter", "Enter")
        terminal.until("program", "llama.cpp", "command", "model buffer", "KV buffer", "sum of the bill", "as the bill says")
        terminal.keys("e")
        terminal.until("plimsoll top", "2200", without=("sum of the bill",))
        terminal.keys("Escape")
        terminal.until("COMMAND")
        terminal.keys("h")
        terminal.until("send a signal (asks first)")


def test_dialog_cancelled(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        terminal.keys("j", "F9")
        terminal.until("Signal to 41233", "> TERM")
        terminal.keys("Enter")
        terminal.until("Send TERM to 41233", "y: send it")
        terminal.keys("Enter")
        terminal.until("Nothing was sent.", without=("Send TERM",))
        terminal.keys("F9")
        terminal.until("Signal to")
        terminal.keys("Escape")
        terminal.until("Nothing was sent.", without=("Signal to",))
        terminal.keys("q")
        check_left(terminal)


def test_signal_refused(place: Place) -> None:
    """The processes of another machine get none."""
    with place.terminal() as terminal:
        start(terminal)
        terminal.keys("j", "F9", "Enter")
        terminal.until("Send TERM to 41233")
        terminal.keys("y")
        terminal.until("TERM sent to 0 of 1; not to 41233")


def test_signal_sent(place: Place) -> None:
    """A real process of ours gets the signal that was chosen, and no other one does."""
    nvml = pathlib.Path(place.environment["NVML_SCENE"])
    children = [subprocess.Popen(["sleep", "600"]) for _ in range(3)]
    try:
        rows = "".join(f"compute {child.pid} {(3 - i) << 30}\n" for i, child in enumerate(children))
        card = "card\nname RTX\nuuid GPU-1\npci 0000:01:00.0\nmemory 25769803776 0 16106127360\n"
        nvml.write_text(card + rows)
        with place.terminal(PLIMSOLL_SYSROOT="") as terminal:
            terminal.run("$plimsoll top")
            terminal.until("sleep 600", str(children[2].pid))
            terminal.keys("Home", "Space", "Space", "F9")  # the first two
            terminal.until("Signal to 2 tagged processes")
            terminal.keys("Down", "Enter")
            terminal.until("Send INT to 2 tagged processes?")
            terminal.keys("y")
            terminal.until("INT sent to 2 processes.")
            assert [child.wait(30) for child in children[:2]] == [-signal.SIGINT] * 2
            assert children[2].poll() is None
    finally:
        for child in children:
            child.kill()
            child.wait()


def test_readonly(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal, "--readonly")
        terminal.keys("j", "K")
        terminal.until("Read only: signals are switched off.")


def test_resize(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        terminal.resize(40, 10)
        terminal.until_true("40x10", lambda: is_whole(terminal.lines(), 10))
        terminal.resize(20, 5)
        terminal.until("needs 40x10")
        terminal.resize(150, 40)
        terminal.until("HISTORY", "GROWTH", "GPU", "PEAK", "BY", "1-9 card")
        terminal.keys("q")
        check_left(terminal)


def test_other_locale(place: Place) -> None:
    with place.terminal(LC_ALL="C") as terminal:
        start(terminal)
        seen = terminal.until("||||", "GeForce RTX 4090")
        assert seen.isascii(), seen
    with place.terminal() as terminal:
        start(terminal, "--ascii")
        assert terminal.until("||||").isascii()


def test_colours(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        assert re.search(r"\033\[[0-9;]*3[0-7]m", terminal.screen("-e"))
    with place.terminal(NO_COLOR="1") as terminal:
        start(terminal)
        assert not re.search(r"\033\[(?:[0-9]+;)*[34][0-7](?:;|m)", terminal.screen("-e"))


def test_pause(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal, "--interval 0.5")
        terminal.keys("p")
        terminal.until("PAUSED")
        terminal.keys("p")
        terminal.until("plimsoll top", without=("PAUSED",))


def test_live(place: Place) -> None:
    """What changes on the card is seen, and a process that ends is no longer there to be sent a signal."""
    nvml = pathlib.Path(place.environment["NVML_SCENE"])
    before = nvml.read_text()
    with place.terminal() as terminal:
        start(terminal, "--interval 0.5")
        terminal.keys("j")
        new = nvml.with_suffix(".new")
        new.write_text(before.replace(f"compute 41233 {15 << 30}", f"compute 41240 {16 << 30}"))
        new.rename(nvml)
        terminal.until("16.00 GiB", without=("train.py",))
        terminal.keys("F9")
        terminal.until("This process holds no memory any more.")
        new.write_text(before)
        new.rename(nvml)
        terminal.until("15.00 GiB", "train.py")


def find_child(terminal: Terminal) -> int:
    """The pid of the program in the terminal."""
    shell = terminal.call("display-message", "-p", "#{pane_pid}").strip()
    children = pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    return int(children[0])


def test_signals(place: Place) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT):
        with place.terminal(CORE="0") as terminal:
            terminal.run("ulimit -c 0")
            start(terminal)
            terminal.until_true("its screen", lambda: terminal.state()[0])
            os.kill(find_child(terminal), number)
            terminal.until_true("its end", lambda: not terminal.state()[0])
            terminal.run("echo status $?")
            terminal.until(f"status {128 + number}")
            check_left(terminal)


def test_interrupt(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        terminal.keys("C-c")
        check_left(terminal)


def test_suspend(place: Place) -> None:
    with place.terminal() as terminal:
        start(terminal)
        terminal.keys("C-z")
        check_left(terminal)
        terminal.run("clear; fg")
        terminal.until("F1 help", "train.py")
        terminal.keys("q")
        check_left(terminal)


def test_no_screen(place: Place) -> None:
    with place.terminal(TERM="dumb") as terminal:
        terminal.run("clear; $plimsoll top; echo status $?")
        terminal.until("this terminal cannot place text", "plimsoll ps", "status 2")
    with place.terminal() as terminal:
        terminal.run("clear; $plimsoll top | cat; $plimsoll top </dev/null; echo status $?")
        terminal.until("standard output is none", "standard input is none", "plimsoll ps", "status 2")


def test_no_card(place: Place) -> None:
    pathlib.Path(place.environment["NVML_SCENE"]).write_text("")
    with place.terminal() as terminal:
        terminal.run("clear; $plimsoll top; echo status $?")
        terminal.until("no GPU found on this machine", "status 4")
    pathlib.Path(place.environment["NVML_SCENE"]).write_text("init 9\n")
    with place.terminal() as terminal:
        terminal.run("clear; $plimsoll top; echo status $?")
        terminal.until("driver", "status 4")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if not shutil.which("tmux"):
        print("no tmux here")
        return 77
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    chosen = {name: test for name, test in tests.items() if not options.names or any(part in name for part in options.names)}

    def outcome(name: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            try:
                chosen[name](Place(options, folder))
            except (AssertionError, subprocess.SubprocessError, OSError) as error:
                return f"FAILED {name}: {error}"
        return f"passed {name}"

    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool: # most of them wait
        outcomes = list(pool.map(outcome, chosen))
    print("\n".join(outcomes))
    n_passed = sum(text.startswith("passed") for text in outcomes)
    print(f"{n_passed} of {len(chosen)} passed")
    return 0 if chosen and n_passed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())

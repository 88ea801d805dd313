#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`plimsoll free` while the machine changes under it. No process may be ended that was not chosen.

    race.py --plimsoll PROGRAM --nvml LIBRARY [--runs 1000] [--first 0] [--seed N] [--log FILE] [-v]

A run starts victims and bystanders, processes that hold memory according to a driver that is not one
(nvml_scene.c), lets the program end the victims, and changes something meanwhile: a victim ends, its number goes to
an innocent process, the driver fails, lists nothing, garbage or the wrong process, memory leaks. Victims may ignore
SIGTERM, be stopped, be slow, have children. The driver reads its scene from a FIFO, so the test knows when the program
looks and changes things exactly between two looks; some changes come at any moment instead. Some runs are on a
terminal, and change things while the question waits.

After each run: every bystander lives; the program has ended by itself with a status that it documents; 0 only if every
victim has ended and the driver no longer counts its memory. Run N of a seed is always the same plan.

Numbers are given anew only in a pid namespace of our own (root, or user namespaces). Without one these runs do
something else, and the result says so. In it the driver is the system's own by its name, so a process has to have a
device file open, as with a real card.
"""
from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime
import json
import os
import pathlib
import pty
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

GIB = 1 << 30
TIMEOUT_S = 40
HABITS = ["heeds", "heeds", "heeds", "ignores", "stopped", "slow", "child", "stopped child"]
STALE_EVENTS = ["none", "exit", "reuse", "wakes", "wakes", "no list", "vanish"]
EVENTS = ["none", "none", "exit", "exit", "reuse", "reuse", "reuse", "vanish", "error", "no list", "garbage", "no memory", "wrong pid",
          "leak", "bystander exits", "becomes another"]
INSIDE = "PLIMSOLL_RACE_INSIDE"


def enter_namespace() -> bool:
    """Start over as the first process of a pid namespace, with a /dev that has a card's device file."""
    if os.environ.get(INSIDE):
        return os.environ[INSIDE] == "yes"
    script = """
        set -e
        dev=$(mktemp -d)
        mount -t tmpfs none "$dev"
        for name in null zero urandom; do touch "$dev/$name"; mount --bind "/dev/$name" "$dev/$name"; done
        touch "$dev/nvidia0"
        mkdir "$dev/pts"
        mount -t devpts -o newinstance,ptmxmode=0666 none "$dev/pts"
        ln -s pts/ptmx "$dev/ptmx"
        mount --move "$dev" /dev
        rmdir "$dev"
        echo 100 > /proc/sys/kernel/ns_last_pid
        exec "$@"
    """
    command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    if shutil.which("unshare"):
        trial = subprocess.run([*command, "sh", "-c", script, "sh", "true"], capture_output=True, check=False)
        if trial.returncode == 0:
            os.environ[INSIDE] = "yes"
            os.execvp(command[0], [*command, "sh", "-c", script, "sh", sys.executable, *sys.argv])
    os.environ[INSIDE] = "no"
    return False


# --- processes ---

@dataclasses.dataclass
class Actor:
    pid: int
    habit: str
    bytes: int
    is_victim: bool
    children: list[int] = dataclasses.field(default_factory=list)
    is_listed: bool = True  # by the driver
    rows_after_end: int = 0  # how many more times the driver lists it once it has ended; -1: for ever


def hold_card() -> None:
    if os.path.exists("/dev/nvidia0"):
        os.set_inheritable(os.open("/dev/nvidia0", os.O_RDONLY), True)


def live(habit: str, ready: int, random_source: random.Random) -> None:
    """What an actor does: never returns."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if "child" in habit:
        if os.fork() == 0:
            os.write(ready, os.getpid().to_bytes(4, "little"))
            while True:
                signal.pause()
        else:
            os.write(ready, b"\0\0\0\0")
    elif habit == "ignores":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif habit == "slow":
        delay_s = random_source.random() / 20
        signal.signal(signal.SIGTERM, lambda *_: (time.sleep(delay_s), os._exit(0)))
    os.write(ready, b"\xff\xff\xff\xff")
    if "stopped" in habit:
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        signal.pause()


def call_oneself_init() -> None:
    """Processes without a parent come to us, and the program has to take us for what takes them in."""
    with open("/proc/self/comm", "w", encoding="utf-8") as file:
        file.write("init")


def start(habit: str, size: int, is_victim: bool, source: random.Random) -> Actor:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            hold_card()
            if habit == "idle":
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.write(write, b"\xff\xff\xff\xff")
                # a rank whose launcher is gone
                os.execvpe("sleep", ["sleep", "1000"], {**os.environ, "TORCHELASTIC_RUN_ID": "none"})
            live(habit, write, source)
        finally:
            os._exit(9)
    os.close(write)
    words: list[int] = []
    wanted = 3 if "child" in habit else 1
    while len(words) < wanted:
        piece = os.read(read, 4)
        if not piece:
            raise SystemExit("an actor ended early")
        words.append(int.from_bytes(piece, "little"))
    os.close(read)
    children = [word for word in words if word not in (0, 0xffffffff)]
    if "stopped" in habit:
        os.waitpid(pid, os.WUNTRACED)
    return Actor(pid, habit, size, is_victim, children)


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def start_with_pid(pid: int, has_card: bool) -> int | None:
    """
    An innocent process that is given this number; None: another one was faster. It starts in a later hundredth of a
    second than its forerunner: all numbers are given away once before one is given again, which takes longer.
    """
    time.sleep(0.02)
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="utf-8") as file:
        file.write(str(pid - 1))
    child = os.fork()
    if child == 0:
        os.closerange(3, 256)  # the FIFO: the driver would wait for its end
        if has_card:
            hold_card()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        while True:
            signal.pause()
    if child == pid:
        return child
    end(child)
    return None


# --- one run ---

class Run:
    def __init__(self, number: int, seed: int, options: argparse.Namespace, has_namespace: bool, folder: pathlib.Path):
        self.random = random.Random(f"{seed}/{number}")
        self.number, self.options, self.has_namespace, self.folder = number, options, has_namespace, folder
        self.is_stale = has_namespace and self.random.random() < options.stale
        self.event = self.random.choice(STALE_EVENTS if self.is_stale else EVENTS)
        if self.event == "reuse" and not has_namespace:
            self.event = "exit"
        self.at_look = self.random.randrange(0, 14)  # at which reading of the scene
        self.at_s = self.random.random() * 0.03 if self.random.random() < 0.3 else None  # or after this time
        self.grace = self.random.choice(["0", "0", "1s"])
        self.reply = self.random.choice(["y\n", "yes\n", "y\n", "n\n", "\n"]) if self.random.random() < 0.25 else None  # on a terminal
        if self.event == "wakes":  # while the question waits: what begins to compute after the last look is not seen
            self.reply, self.at_s = "y\n", 0.0
        self.extra: list[str] = []  # lines of the scene
        self.active: set[int] = set()  # they compute
        self.is_broken = self.is_leaking = False
        self.lock = threading.Lock()
        self.innocent: set[int] = set()  # must live
        self.has_happened = False
        self.is_over = self.has_begun = False
        self.n_looks = 0
        self.actors = [start("idle" if self.is_stale else self.random.choice(HABITS), self.random.randrange(1, 6) * GIB // 2, True, self.random)
                       for _ in range(self.random.randrange(1, 4))]
        self.actors += [start("heeds", GIB // 4, False, self.random) for _ in range(self.random.randrange(1, 3))]
        self.victims = [actor for actor in self.actors if actor.is_victim]
        self.bystanders = [actor for actor in self.actors if not actor.is_victim]
        self.innocent |= {actor.pid for actor in self.bystanders}
        self.active |= self.innocent
        for actor in self.victims:
            actor.rows_after_end = self.random.choice([0, 0, 1, 3])

    # the driver

    def rows(self) -> list[tuple[int, int]]:
        found = []
        for actor in self.actors:
            if not actor.is_listed:
                continue
            if not is_alive(actor.pid) or actor.pid in self.innocent and actor.is_victim:
                if actor.rows_after_end == 0 and not (self.is_leaking and actor.is_victim):
                    actor.is_listed = False
                    continue
                actor.rows_after_end -= 1
            found.append((actor.pid, actor.bytes))
            found += [(child, GIB // 8) for child in actor.children if is_alive(child)]
        return found

    def scene(self) -> str:
        rows = self.rows()
        used = sum(size for _, size in rows) + GIB
        if "no memory" in self.extra:
            rows = [(pid, size) for pid, size in rows if pid != self.victims[0].pid]
        if "wrong pid" in self.extra:  # one bystander has all
            rows = [(self.bystanders[0].pid, size) for _, size in rows[:1]]
        lines = [line for line in self.extra if line not in ("no memory", "wrong pid", "no list")]
        lines += ["accounting on", "card", "name NVIDIA GeForce RTX 4090", "uuid GPU-00000000-0000-0000-0000-000000000001",
                  "pci 0000:01:00.0", "capability 8 9", f"memory {48 * GIB} {GIB // 4} {48 * GIB - used - GIB // 4}"]
        lines += [f"compute {pid} {size}" for pid, size in rows]
        lines += [f"utilization {pid} 50 {0.5 if pid in self.active else 4000}" for pid, _ in rows] if self.is_stale else []
        lines += ["lists 999"] if "no list" in self.extra else []
        return "\n".join(lines) + "\n"

    # what happens

    def happen(self) -> None:
        with self.lock:
            if self.has_happened:
                return
            self.has_happened = True
            victim = self.victims[0]
            if self.event in ("exit", "reuse"):
                end(victim.pid)
                if self.event == "reuse":
                    # Before the program began, an owner that computes cannot be told from the one that was meant, when
                    # the driver lists the number still.
                    child = start_with_pid(victim.pid, has_card=self.at_s is None)
                    if child:
                        self.innocent.add(child)
            elif self.event == "bystander exits":
                self.innocent.discard(self.bystanders[0].pid)
                end(self.bystanders[0].pid)
            elif self.event == "vanish":
                for actor in self.victims:
                    actor.is_listed = False
                self.is_broken = True
            elif self.event == "error":
                self.extra.append(f"all {self.random.choice([3, 4, 9, 15, 999])}")
                self.is_broken = True
            elif self.event == "garbage":
                self.extra.append(f"garbage {self.random.randrange(1, 1 << 31)}")
                self.is_broken = True
            elif self.event in ("no memory", "wrong pid", "no list"):
                self.extra.append(self.event)
                self.is_broken = True
            elif self.event == "leak":
                self.is_leaking = True
            elif self.event == "wakes":
                self.active.add(victim.pid)
                self.innocent.add(victim.pid)
                victim.is_victim = False
            elif self.event == "becomes another" and self.has_namespace:
                # it ends, and an innocent process with a card's file open has its number; the driver knows of neither
                end(victim.pid)
                victim.is_listed = False
                child = start_with_pid(victim.pid, has_card=True)
                if child:
                    self.innocent.add(child)

    def serve(self) -> None:
        """The scene, each time that the driver opens the FIFO; a new FIFO each time, so that none is read twice."""
        path = self.folder / "scene"
        while not self.is_over:
            try:
                file = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.0002)
                continue
            self.fresh_fifo()
            if self.has_begun and self.at_s is None and self.n_looks == self.at_look:
                self.happen()
            with self.lock:
                text = self.scene()
            self.n_looks += 1
            os.set_blocking(file, True)
            try:
                os.write(file, text.encode())
            except BrokenPipeError:
                pass
            os.close(file)

    def begin(self) -> None:
        with self.lock:
            self.has_begun = True
            self.n_looks = 0

    def fresh_fifo(self) -> None:
        os.mkfifo(self.folder / "next")
        os.rename(self.folder / "next", self.folder / "scene")

    # the program

    def go(self) -> tuple[int, str]:
        self.fresh_fifo()
        env = {**os.environ, "NVML_SCENE": str(self.folder / "scene"), "LC_ALL": "C.UTF-8", "HOME": str(self.folder),
               "XDG_STATE_HOME": str(self.folder)}
        env.pop("PLIMSOLL_SYSROOT", None)
        if self.has_namespace:
            env["LD_LIBRARY_PATH"] = str(self.folder / "lib")
            env.pop("PLIMSOLL_NVML", None)
        else:
            env["PLIMSOLL_NVML"] = self.options.nvml
        whom = ["--stale", "--idle-after", "1s"] if self.is_stale else [str(actor.pid) for actor in self.victims]
        command = [self.options.plimsoll, "free", "--grace", self.grace, *whom]
        if self.reply is None:
            command.insert(2, "--yes")
            if self.random.random() < 0.3:
                command.insert(2, "--json")
        server = threading.Thread(target=self.serve)
        server.start()
        if self.is_stale:  # it has to be seen idle for a second
            subprocess.run([self.options.plimsoll, "ps", "--idle-after", "1s"], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                           check=False, timeout=TIMEOUT_S)
            time.sleep(1.2)
        self.begin()
        if self.reply is None:
            status, out = self.wait(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        else:
            status, out = self.converse(command, env)
        self.is_over = True
        server.join()
        return status, out.decode(errors="replace")

    def wait(self, process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
        if self.at_s is not None:
            time.sleep(self.at_s)
            self.happen()
        try:
            out = process.communicate(timeout=TIMEOUT_S)[0]
            return process.returncode, out
        except subprocess.TimeoutExpired:
            process.kill()
            return -99, process.communicate()[0]

    def converse(self, command: list[str], env: dict[str, str]) -> tuple[int, bytes]:
        """On a terminal: what is to happen at a time happens while the question waits."""
        master, slave = pty.openpty()
        process = subprocess.Popen(command, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        out, is_answered, until = b"", False, time.monotonic() + TIMEOUT_S
        while time.monotonic() < until:
            if not is_answered and b"[y/N] " in out:
                is_answered = True
                if self.at_s is not None:
                    self.happen()
                os.write(master, self.reply.encode())
            if not select.select([master], [], [], 0.05)[0]:
                continue
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            out += piece
        os.close(master)
        if process.poll() is None and time.monotonic() >= until:
            process.kill()
            process.wait()
            return -99, out
        return process.wait(), out

    def complaints(self, status: int, out: str) -> list[str]:
        found = [f"innocent process {pid} was ended" for pid in sorted(self.innocent) if not is_alive(pid)]
        left = [actor.pid for actor in self.victims if is_alive(actor.pid) and actor.pid not in self.innocent]
        if status not in (0, 1, 4):
            found.append(f"exit status {status}")
        if "Sanitizer" in out or "runtime error" in out:
            found.append("a sanitizer complains")
        if status == 0 and left:
            found.append(f"status 0, and {left} live")
        if status == 0 and self.is_leaking and self.has_happened and self.rows_left():
            found.append("status 0, and the memory leaks")
        is_no = self.reply is not None and "y" not in self.reply
        if is_no and status == 0:
            found.append("status 0, and the answer was no")
        if is_no and self.event in ("none", "bystander exits", "leak") and len(left) < len(self.victims):
            found.append("the answer was no, and victims were ended")
        is_quiet = self.event in ("none", "bystander exits") and not is_no
        if is_quiet and status != 0:
            found.append(f"exit status {status}, and nothing went wrong")
        if is_quiet and left:
            found.append(f"{left} live, and nothing went wrong")
        if out.startswith("{"):
            try:
                json.loads(out)
            except ValueError:
                found.append("no JSON")
        return found

    def rows_left(self) -> bool:
        return any(actor.is_listed and not is_alive(actor.pid) for actor in self.victims)

    def clean_up(self) -> None:
        for actor in self.actors:
            for pid in (*actor.children, actor.pid):
                end(pid)
        for pid in self.innocent:
            end(pid)
        while True:  # orphans come to the first process of the namespace
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plimsoll", required=True, type=os.path.abspath)
    parser.add_argument("--nvml", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stale", type=float, default=0.1, help="share of the runs that end what is stale (default: 0.1)")
    parser.add_argument("--log")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    has_namespace = enter_namespace()
    if has_namespace:
        call_oneself_init()
    began = time.monotonic()
    events: collections.Counter[str] = collections.Counter()
    statuses: collections.Counter[int] = collections.Counter()
    n_bad = n_innocent = 0
    for number in range(options.first, options.first + options.runs):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "lib").mkdir()
            (folder / "lib" / "libnvidia-ml.so.1").symlink_to(options.nvml)
            run = Run(number, options.seed, options, has_namespace, folder)
            status, out = run.go()
            bad = run.complaints(status, out)
            events[("stale, " if run.is_stale else "") + run.event] += 1
            statuses[status] += 1
            n_innocent += len(run.innocent)
            if bad or options.v:
                habits = ", ".join(actor.habit for actor in run.victims)
                where = f"after {run.at_s:.4f} s" if run.at_s is not None else f"at look {run.at_look} of {run.n_looks}"
                asked = "; asked" if run.reply else ""
                said = "; ".join(bad) or "ok"
                print(f"run {number}: {'stale, ' * run.is_stale}{run.event} {where}; {habits}; grace {run.grace}{asked}: status {status}: {said}")
                if bad:
                    print("    " + "\n    ".join(out.splitlines()))
            n_bad += bool(bad)
            run.clean_up()
    result = {"date": datetime.date.today().isoformat(), "kernel": ".".join(os.uname().release.split(".")[:2]), "runs": options.runs,
              "seed": options.seed, "failed": n_bad, "innocent_processes": n_innocent,
              "pids_reused": has_namespace, "device_files_required": has_namespace,
              "statuses": {str(key): statuses[key] for key in sorted(statuses)}, "events": dict(sorted(events.items()))}
    if options.log:
        pathlib.Path(options.log).write_text(json.dumps(result, indent=1) + "\n")
    skipped = "" if has_namespace else "; no pid namespace here: no number was given anew, no device file required"
    print(f"{options.runs} runs in {time.monotonic() - began:.0f} s, {n_bad} failed, {n_innocent} innocent processes watched{skipped}")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())

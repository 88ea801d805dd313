#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Looking at a busy machine: plimsoll ps and plimsoll top beside nvitop, gpustat and nvtop, in one run by turns.

A thousand processes run, of which sixteen, then two hundred hold memory of eight virtual cards; all programs ask the same
virtual NVML. The rehearsal that lends it is stopped meanwhile, so that its own looks at processes cost nobody anything. Programs
that show a table once are timed; those that go on showing one are watched for some seconds, in a terminal of 120x40
that refreshes each second: their part of a core, and their resident set.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import beside

N_PROCESSES, N_FEW, N_HOLDERS, N_CARDS = 1000, 16, 200, 8
HOLDER_MIB = 200
PS_MS, TOP_PERCENT, TOP_MIB = 15, 1.0, 12
SECONDS = 12
A_TREE = "plimsoll, a tree"
WHERE_IS_THE_CURSOR = b"\x1b[6n"  # gpustat waits for the answer
TICKS = os.sysconf("SC_CLK_TCK")


# --- what is compared ---

def peer(folder, name):
    program = os.path.join(folder, name)
    return program if os.access(program, os.X_OK) else None


def nvtop(folder):
    """Unpacked from Debian's package, libraries that this machine lacks with it."""
    root = os.path.join(folder, "nvtop")
    program = peer(os.path.join(root, "usr", "bin"), "nvtop")
    libraries = os.path.join(root, "usr", "lib", os.uname().machine + "-linux-gnu")
    return ["env", f"LD_LIBRARY_PATH={libraries}:{os.environ.get('LD_LIBRARY_PATH', '')}", program] if program else None


def programs(arguments):
    """Name, command that shows a table once, command that goes on; either may be None."""
    bin_ = os.path.join(arguments.monitors, "bin")
    yield "plimsoll", [arguments.plimsoll, "ps"], [arguments.plimsoll, "top"]
    for name, once, live in [("nvitop", ["--once"], ["--interval", "1"]), ("gpustat", ["-cup"], ["-cup", "-i", "1"])]:
        program = peer(bin_, name)
        if program:
            yield name, [program, *once], [program, *live]
        else:
            print(f"left out: {name} is not in {bin_}", flush=True)
    program = nvtop(arguments.monitors)
    if program:
        yield "nvtop", None, [*program, "-d", "10"]  # Debian's 3.0 shows nothing once
    else:
        print(f"left out: nvtop is not in {arguments.monitors} (sh tests/engine/watch/fetch.sh)", flush=True)


# --- a busy machine ---

def start(arguments, count, memory):
    """So many processes, each ready; without what a rehearsal loads into each, they map what they would without it."""
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    started = [subprocess.Popen([arguments.holder, str(memory), str(i % N_CARDS)], stdout=subprocess.PIPE, env=plain) for i in range(count)]
    for process in started:
        if process.stdout.readline() != b"ready\n":
            raise SystemExit("a process of the bench did not start")
        process.stdout.close()  # select() takes file descriptors below 1024
    return started


def n_processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


def described(arguments):
    """plimsoll on a machine that is only described, so many processes in a tree and an NVML that reads a file: ps, top."""
    path, folder = os.path.join(arguments.work, "busy.scene"), os.path.join(arguments.work, "busy")
    per_card = arguments.holders // N_CARDS
    with open(path, "w", encoding="utf-8") as file:
        file.write("source: made up, by bench/watch.py\n@user ada 1000\n")
        for i in range(arguments.processes):
            file.write(f"@process {2000 + i}\nargs = python train.py --run {i}\nprogram = /usr/bin/python3.11\nfolder = /home/ada\nuid = 1000\n"
                       f"parent = {2000 + i - 1 if i % 7 else 1}\nage = {100 + i}\ncpu = {i}\nrss = 2 GiB\nfd 0 = /dev/pts/0\nfd 7 = /dev/nvidia0\n")
            file.writelines(f"map = /usr/lib/python3/dist-packages/torch/lib/lib{k}.so\n" for k in range(40))
        file.write("@nvml\n")
        for card in range(N_CARDS):
            file.write(f"card\nname NVIDIA H100 80GB HBM3\nuuid GPU-{card:08x}-0000-0000-0000-000000000000\npci 0000:{card + 1:02x}:00.0\n"
                       f"capability 9 0\nmemory 81559 MiB 551 MiB 40 GiB\n")
            file.writelines(f"compute {2000 + card * per_card + i} 1 GiB\n" for i in range(per_card))
    beside.call([sys.executable, os.path.join(arguments.source, "tests", "watch", "scene.py"), path, folder])
    env = ["env", f"PLIMSOLL_NVML={arguments.nvml}", f"NVML_SCENE={folder}/nvml", f"XDG_STATE_HOME={folder}/state", arguments.plimsoll]
    tree = ["--sysroot", f"{folder}/root"]
    return [(A_TREE, [*env, "ps", *tree], [*env, "top", *tree])]


# --- programs that go on ---

def spent_s(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024


def watch(command, seconds):
    """Percent of a core, resident MiB and bytes that it wrote, of a program in a terminal; None: it ended."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        os.execvp(command[0], command)
    begin, before, n_written = time.monotonic(), None, 0
    while time.monotonic() < begin + 3 + seconds:
        if before is None and time.monotonic() > begin + 3:  # what the start costs is not what watching costs
            before, since, n_written = spent_s(pid), time.monotonic(), 0
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                text = os.read(terminal, 65536)
            except OSError:
                os.waitpid(pid, 0)
                return None
            n_written += len(text)
            if WHERE_IS_THE_CURSOR in text:
                os.write(terminal, b"\x1b[1;1R")
    result = (100 * (spent_s(pid) - before) / (time.monotonic() - since), resident_mib(pid), n_written)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return result


def live_table(rows, seconds):
    head = ["", "percent of a core", "RSS MiB", "KiB written a second", "processor time"]
    base = rows[0][1][0] or 100 / TICKS / seconds
    lines = [head, ["---"] + ["---:"] * 4]
    for name, (percent, mib, written) in rows:
        lines.append([name, f"{percent:.2f}", f"{mib:.1f}", f"{written / 1024 / seconds:.1f}", f"{percent / base:.1f} x"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# --- inside the rehearsal ---

def looks(arguments, listed):
    """Those that show a table once, by turns."""
    once = [beside.Contender(name, "ps of a described machine" if name == A_TREE else " ".join([name, *show[1:]]), show)
            for name, show, _ in listed if show and works(show)]
    beside.by_turns(once, arguments.stopwatch, arguments.runs)
    return once


def watches(arguments, listed):
    """Those that go on, one after the other."""
    for name, _, command in listed:
        seen = watch(command, arguments.seconds)
        if seen:
            yield name, seen
        else:
            print(f"left out: {' '.join(command)} ended by itself", flush=True)


def works(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, errors="replace")
    if done.returncode == 0 and done.stdout.strip():
        return True
    print(f"left out: {' '.join(command)} ends with {done.returncode}: {(done.stdout.strip().splitlines() or [''])[-1]}", flush=True)
    return False


def inside(arguments):
    """In a rehearsal: fill the machine, stop the rehearsal, measure, and let go."""
    rehearsal, listed = os.getppid(), list(programs(arguments))
    busy = start(arguments, N_FEW, HOLDER_MIB)
    idle = start(arguments, max(0, arguments.processes - n_processes()), 0)
    os.environ.pop("LD_PRELOAD", None)
    try:
        os.kill(rehearsal, signal.SIGSTOP)
        few = looks(arguments, listed)
        os.kill(rehearsal, signal.SIGCONT)
        busy += start(arguments, max(0, arguments.holders - N_FEW), HOLDER_MIB)
        end(idle[:len(busy) - N_FEW])
        os.kill(rehearsal, signal.SIGSTOP)
        listed += described(arguments) if arguments.nvml else []
        many = looks(arguments, listed)
        watched = list(watches(arguments, listed))
        report(arguments, few, many, watched)
    finally:
        os.kill(rehearsal, signal.SIGCONT)
        end(busy + idle)


def end(processes):
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


def report(arguments, few, many, watched):
    text = (f"{beside.machine_and_date()}. {n_processes()} processes, {N_FEW} of them on {N_CARDS} cards:\n\n{beside.table(few)}\n\n"
            f"The same with {arguments.holders} of them on the cards:\n\n{beside.table(many)}\n\n"
            f"Those that go on, refreshed each second, for {arguments.seconds} seconds:\n\n{live_table(watched, arguments.seconds)}")
    print(text)
    if arguments.page:
        beside.write_page(arguments.page, "watch", text)
    print()
    beside.judge("a look at a busy machine", few[:1], PS_MS)
    for name, (percent, mib, _) in watched:
        if name.startswith("plimsoll"):
            kept = percent <= TOP_PERCENT and mib <= TOP_MIB
            print(f"watching it ({name}): {TOP_PERCENT} % of a core and {TOP_MIB} MiB {'kept' if kept else 'NOT kept'}")


def main():
    parser = beside.parser(__doc__)
    parser.add_argument("--holder", required=True, help="the program that holds memory of a GPU")
    parser.add_argument("--nvml", help="the NVML of tests/watch, which reads a file")
    parser.add_argument("--monitors", help="where the other programs are (the source tree's .cache/monitors)")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--processes", type=int, default=N_PROCESSES, help="of the machine")
    parser.add_argument("--holders", type=int, default=N_HOLDERS, help="of them with memory of a card")
    parser.add_argument("--inside", action="store_true", help="this is the rehearsal: for the bench itself")
    arguments = beside.parse(parser)
    for name in ("plimsoll", "stopwatch", "holder", "nvml"):
        if getattr(arguments, name):
            setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    arguments.monitors = os.path.abspath(arguments.monitors or os.path.join(arguments.source, ".cache", "monitors"))
    if arguments.inside:
        inside(arguments)
        return 0
    return subprocess.run([arguments.plimsoll, "rehearse", "--quiet", "--card", f"{N_CARDS}x H100 SXM", "--until", "exit", "--",
                           sys.executable, *sys.argv, "--inside"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

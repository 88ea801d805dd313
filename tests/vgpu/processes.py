#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Whom a rehearsal ends, and what cannot keep it from ending: real programs, one for each case.

    processes.py plain|namespaces PLIMSOLL

The cases of `namespaces` need pid namespaces of their own; where those are not allowed, the exit status is 77.
"""
from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

PLIMSOLL = ""
HERE = pathlib.Path(__file__).resolve()
PROGRAMS = HERE.parent.parent / "cli" / "programs"
MOST_S = 120  # only a hang takes this long
TIMEOUT = 124


class Failed(Exception):
    pass


def need(is_right: bool, what: str) -> None:
    if not is_right:
        raise Failed(what)


def command(*options: str) -> list[str]:
    return [PLIMSOLL, "rehearse", "--card", "4060", "-q", *options, "--"]


def script(*lines: str) -> list[str]:
    """A program in Python; `card` is that of the programs."""
    return [sys.executable, "-c", "\n".join([f"import sys; sys.path.insert(0, {str(PROGRAMS)!r})", *lines])]


def run(argv: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(argv, text=True, capture_output=True, check=False, timeout=MOST_S)


def is_alive(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def number_in(path: pathlib.Path) -> int:
    """What a process writes there, when it has."""
    end = time.monotonic() + MOST_S
    while time.monotonic() < end:
        if path.exists() and path.read_text().endswith("\n"):
            return int(path.read_text())
        time.sleep(0.01)
    raise Failed(f"nothing was written to {path.name}")


def wait_until_it_sleeps(pid: int) -> None:
    n = 0
    end = time.monotonic() + MOST_S
    while n < 5 and time.monotonic() < end:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        n = n + 1 if state == "S" else 0
        time.sleep(0.02)


def end_twice(process: subprocess.Popen) -> None:
    """The second interrupt ends every process of a rehearsal."""
    end = time.monotonic() + MOST_S
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    if process.poll() is None:
        process.kill()
        raise Failed("it does not end")


def with_longer_timeouts(attempt: Callable[[int], bool]) -> None:
    """attempt(seconds) is False when the program was too slow to come to the point before its time was over."""
    for seconds in 1, 4, 16, 64:
        if attempt(seconds):
            return
    raise Failed("the program never came to the point")


# --- whom it ends ---


def orphan(folder: pathlib.Path, how: str) -> None:
    """The program leaves a process in a session of its own, which no member of the rehearsal is the parent of."""
    pid_file = folder / "pid"
    inner = shlex.quote(f"{how} >/dev/null 2>&1 & echo $! >{pid_file}")

    def attempt(seconds: int) -> bool:
        result = run(command("--timeout", str(seconds)) + ["sh", "-c", f"setsid sh -c {inner}; sleep 100"])
        if not pid_file.exists():
            return False
        need(result.returncode == TIMEOUT, f"exit status {result.returncode}")
        pid = number_in(pid_file)
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
            raise Failed("the orphan lives on")
        return True

    with_longer_timeouts(attempt)


def an_orphan(folder: pathlib.Path) -> None:
    orphan(folder, "sleep 60")


def an_orphan_that_stopped(folder: pathlib.Path) -> None:
    orphan(folder, "sh -c 'kill -STOP $$; sleep 60'")


def an_orphan_that_ignores_signals(folder: pathlib.Path) -> None:
    orphan(folder, "sh -c 'trap : TERM; while :; do sleep 60; done'")


def an_orphan_of_an_interrupted_program(folder: pathlib.Path) -> None:
    """The first interrupt is the program's, which ignores it; the second ends all."""
    pid_file = folder / "pid"
    inner = shlex.quote(f"sleep 60 >/dev/null 2>&1 & echo $! >{pid_file}")
    program = ["sh", "-c", f"trap '' TERM; setsid sh -c {inner}; sleep 60; sleep 60"]
    with subprocess.Popen(command() + program, stderr=subprocess.DEVNULL) as rehearsal:
        pid = number_in(pid_file)
        end_twice(rehearsal)
    need(not is_alive(pid), "the orphan lives on")


def a_signal_to_plimsoll_alone(folder: pathlib.Path) -> None:
    """It goes to all processes of the rehearsal: a shell would end and leave its program behind."""
    pid_file = folder / "pid"
    program = ["sh", "-c", f"sh -c 'echo $$ >{pid_file}; exec sleep 300'; sleep 300"]
    with subprocess.Popen(command() + program, stderr=subprocess.DEVNULL) as rehearsal:
        pid = number_in(pid_file)
        rehearsal.terminate()
        rehearsal.wait(MOST_S)
    need(rehearsal.returncode == 128 + signal.SIGTERM, f"exit status {rehearsal.returncode}")
    need(not is_alive(pid), "a process of the program lives on")


def a_killed_plimsoll(folder: pathlib.Path) -> None:
    pid_file = folder / "pid"
    with subprocess.Popen(command() + ["sh", "-c", f"echo $$ >{pid_file}; exec sleep 300"]) as rehearsal:
        pid = number_in(pid_file)
        rehearsal.kill()
    end = time.monotonic() + MOST_S
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    need(not is_alive(pid), "the program lives on")


def left_behind(folder: pathlib.Path, shell: str) -> tuple[dict, str]:
    """The receipt of a shell that leaves with status 3, and what is said of the process that it left behind."""
    receipt = folder / "receipt.json"
    result = run(command("--receipt", str(receipt)) + ["sh", "-c", f"{shell} >/dev/null 2>&1 & exit 3"])
    need(result.returncode == 3, f"exit status {result.returncode}")
    answer = json.loads(receipt.read_text())
    return answer, "".join(w["what"] for w in answer["warnings"] if w["kind"] == "left_behind")


def one_that_works_on(folder: pathlib.Path) -> None:
    """It takes its memory after the program has ended, and is waited for: two seconds of work."""
    pid_file = folder / "pid"
    work = shlex.join(script("import os, time", f"open({str(pid_file)!r}, 'w').write(f'{{os.getpid()}}\\n')",
                             "end = time.monotonic() + 2", "while time.monotonic() < end: pass", "import card", "card.alloc(1000)"))
    answer, said = left_behind(folder, f"sleep 0.2; {work}")
    need("waited for" in said, f"it says: {said}")
    need(answer["devices"][0]["peak_bytes"] > 1000 << 20, "what it took is not in the receipt")
    need(not is_alive(number_in(pid_file)), "it lives on")


def one_that_only_sleeps(folder: pathlib.Path) -> None:
    pid_file = folder / "pid"
    _, said = left_behind(folder, f"sh -c 'echo $$ >{pid_file}; exec sleep 300'")
    need("ended, since it computed nothing" in said, f"it says: {said}")
    need(not is_alive(number_in(pid_file)), "it lives on")


def a_process_that_was_there_before(folder: pathlib.Path) -> None:
    """The shell has a job, which has one itself that becomes an orphan, and becomes plimsoll."""
    before, later = folder / "before", folder / "later"
    job = shlex.quote(f"echo $$ >{before}; sleep 0.1; sh -c 'sleep 300 & echo $! >{later}'; exec sleep 300")

    def attempt(seconds: int) -> bool:
        for path in before, later:
            path.unlink(missing_ok=True)
        rest = shlex.join(command("--timeout", str(seconds)) + ["sleep", "100"])
        result = run(["sh", "-c", f"sh -c {job} >/dev/null 2>&1 & exec {rest}"])
        need(result.returncode == TIMEOUT, f"exit status {result.returncode}")
        if not later.exists():
            return False
        for path in before, later:
            pid = number_in(path)
            need(is_alive(pid), f"the process in '{path.name}' was ended")
            os.kill(pid, signal.SIGKILL)
        return True

    with_longer_timeouts(attempt)


# --- what cannot keep it from ending ---

LEDGER = (
    "import ctypes, mmap, os, signal",
    "file = open(os.environ['PLIM_VGPU_LEDGER'], 'r+b')",
    "ledger = mmap.mmap(file.fileno(), 0)",
    "lock = ctypes.c_char.from_buffer(ledger, 8)",  # after the magic number
)


def a_stopped_process_with_the_lock(folder: pathlib.Path) -> None:
    mark, receipt = folder / "locked", folder / "receipt.json"
    program = script(*LEDGER, "ctypes.CDLL(None).pthread_mutex_lock(ctypes.byref(lock))", f"open({str(mark)!r}, 'w').close()",
                     "os.kill(os.getpid(), signal.SIGSTOP)", "signal.pause()")

    def attempt(seconds: int) -> bool:
        mark.unlink(missing_ok=True)
        start = time.time()
        result = run(command("--timeout", str(seconds), "--receipt", str(receipt)) + program)
        need(result.returncode == TIMEOUT, f"exit status {result.returncode}: {result.stderr}")
        if not mark.exists() or mark.stat().st_mtime > start + seconds / 2:
            return False  # it may have come to the lock after the figures had been read
        kinds = [warning["kind"] for warning in json.loads(receipt.read_text())["warnings"]]
        need("unlocked" in kinds, f"the receipt does not say that the ledger was locked: {kinds}")
        need(time.time() - start < seconds + 60, "it took longer than its time and a minute")
        return True

    with_longer_timeouts(attempt)


def a_lock_that_was_written_over(folder: pathlib.Path) -> None:
    del folder
    for words in "b'\\xff' * 40", "b'\\xff\\xff\\xff\\x3f'":
        program = script(*LEDGER, f"data = {words}", "ledger[8:8 + len(data)] = data", "os._exit(5)")
        need(run(command() + program).returncode == 5, f"not the exit status of the program, with {words}")


def a_ledger_that_is_cut(folder: pathlib.Path) -> None:
    del folder
    result = run(command() + script("import os", "try:", "    os.truncate(os.environ['PLIM_VGPU_LEDGER'], 0)",
                                    "except PermissionError:", "    print('refused')"))
    need(result.returncode == 0, f"exit status {result.returncode}")
    need(result.stdout == "refused\n", f"the size was changed: {result.stdout}")


def a_caller_that_ignores_its_children(folder: pathlib.Path) -> None:
    """Then the kernel waits for them itself; the program finds the same setting, outside a rehearsal and in one."""
    del folder
    caller = script("import os, signal", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)", "os.execv(sys.argv[1], sys.argv[1:])")
    result = run(caller + command() + ["grep", "-E", "SigIgn|SigBlk", "/proc/self/status"])
    need(result.returncode == 0, f"exit status {result.returncode}")
    sets = {line.split()[0]: int(line.split()[1], 16) for line in result.stdout.splitlines()}
    need(sets["SigIgn:"] >> (signal.SIGCHLD - 1) & 1 == 1, "the program does not ignore SIGCHLD")
    need(sets["SigBlk:"] == 0, "the program starts with signals blocked")


def a_log_that_nobody_reads(folder: pathlib.Path) -> None:
    """Opening the pipe waits, and nothing has been started yet that a signal could leave behind."""
    os.mkfifo(folder / "log")
    with subprocess.Popen(command("--log", str(folder / "log")) + ["true"]) as rehearsal:
        wait_until_it_sleeps(rehearsal.pid)  # or the signal comes before it has set anything up
        end_twice(rehearsal)
    need(rehearsal.returncode == -signal.SIGTERM, f"exit status {rehearsal.returncode}")


# --- what it opens ---


def a_caller_without_streams(folder: pathlib.Path) -> None:
    """Neither the ledger nor the log takes the place of a stream that is closed."""
    log, receipt = folder / "log", folder / "receipt.json"
    rest = shlex.join(command("--log", str(log), "--receipt", str(receipt)) + ["sh", "-c", "echo out; echo err >&2"])
    result = run(["sh", "-c", f"{rest} <&- >&- 2>&-"])
    need(result.returncode == 0, f"exit status {result.returncode}")
    need(log.read_text() == "out\nerr\n", f"the log holds {log.read_text()!r}")
    need("schema" in json.loads(receipt.read_text()), "the receipt is of something else")


# --- where it is installed ---


def a_folder_that_the_loader_splits(folder: pathlib.Path) -> None:
    """In all of them the program and its children find the virtual card."""
    for name in "a b", "a:b", "a;b", "a$ORIGIN", "a\tb", "a-b":
        place = folder / name
        place.mkdir()
        copy, receipt = place / "plimsoll", place / "receipt.json"
        run(["cp", PLIMSOLL, str(copy)])  # a descriptor of ours would go to the children of other cases
        (place / "vgpu").symlink_to(pathlib.Path(PLIMSOLL).parent / "vgpu")
        child = shlex.join(script("import card", "card.alloc(1000)"))
        result = run([str(copy), *command("--receipt", str(receipt))[1:], "sh", "-c", f"{child}; echo ran"])
        need(result.returncode == 0 and result.stdout == "ran\n" and not result.stderr, f"'{name}': {result.stderr}")
        answer = json.loads(receipt.read_text())
        need(answer["devices"][0]["peak_bytes"] > 1000 << 20, f"'{name}': the card was not found")
        need(not answer["warnings"], f"'{name}': {answer['warnings']}")


# --- pid namespaces: this script runs itself as pid 1 of a new one ---

ways = (["unshare", "-pf"], ["unshare", "-Urpf"])  # as root, or as root of a user namespace


def unshare(*argv: str) -> list[str]:
    return [*ways[0], *argv]


def is_allowed() -> bool:
    global ways
    ways = tuple(way for way in ways
                 if run([*way, "--mount-proc", "sh", "-c", "test -w /proc/sys/kernel/ns_last_pid"]).returncode == 0)
    return bool(ways)



def inside(name: str, *arguments: str) -> None:
    result = run(unshare("--mount-proc", sys.executable, str(HERE), "inside", PLIMSOLL, name, *arguments))
    need(result.returncode == 0, result.stdout + result.stderr)


def a_bystander_of_pid_1(folder: pathlib.Path) -> None:
    """A process that is pid 1 of its namespace enters itself into the ledger: it is not our pid 1, whose children live."""
    inside("bystander_of_pid_1", str(folder))


def bystander_of_pid_1(folder: pathlib.Path) -> None:
    pid_file = folder / "pid"
    program = script("import card, os, signal", "card.alloc(1)", f"open({str(pid_file)!r}, 'w').write(f'{{os.getpid()}}\\n')",
                     "signal.signal(signal.SIGTERM, lambda *_: os._exit(0))", "signal.pause()")
    with subprocess.Popen(["sleep", "60"]) as bystander:
        with subprocess.Popen(command() + unshare(*program), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as rehearsal:
            need(number_in(pid_file) == 1, "the program is not pid 1")
            end_twice(rehearsal)
        need(bystander.poll() is None, f"the bystander was ended: {bystander.returncode}")
        bystander.kill()


def a_reused_pid(folder: pathlib.Path) -> None:
    """A process that was in the ledger ends; a bystander gets its number."""
    inside("reused_pid", str(folder))


def reused_pid(folder: pathlib.Path) -> None:
    pid_file = folder / "pid"
    program = script("import os, signal", "signal.signal(signal.SIGTERM, signal.SIG_IGN)", "child = os.fork()", "if not child:",
                     "    import card", "    card.alloc(1)", "    os._exit(0)", "os.waitpid(child, 0)",
                     f"open({str(pid_file)!r}, 'w').write(f'{{child}}\\n')", "while True:", "    signal.pause()")
    with subprocess.Popen(command() + program) as rehearsal:
        number = number_in(pid_file)
        pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(number - 1))
        bystander = os.fork()
        if not bystander:
            signal.pause()
        need(bystander == number, f"the bystander is {bystander}, not {number}")
        end_twice(rehearsal)
    need(is_alive(bystander), "the bystander was ended")


def somebody_elses_proc(folder: pathlib.Path) -> None:
    """Without its own /proc, numbers mean something else there than here."""
    del folder
    result = run(unshare(*command(), "echo", "ran"))
    need(result.returncode == 126 and result.stdout == "", f"exit status {result.returncode}: {result.stdout}")
    need("/proc here is of another pid namespace" in result.stderr, result.stderr)


def a_monitor_outside(folder: pathlib.Path) -> None:
    """A monitor sees a process of a namespace below its own by the number that it has for the monitor."""
    ready = folder / "ready"
    program = script("import card, time", "card.alloc(100)", f"open({str(ready)!r}, 'w').write('1\\n')", "time.sleep(100)")
    look = f"{shlex.join(unshare(*program))} & while ! test -e {ready}; do sleep 0.05; done; child=$(cat /proc/$!/task/$!/children); " \
           "echo $child; nvidia-smi --query-compute-apps=pid --format=csv,noheader; kill -9 $child"
    result = run(command("--until", "exit") + ["sh", "-c", look])
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    need(len(lines) == 2 and lines[0] == lines[1] != "1", f"it is {lines[0]}, and called {lines[1:]}: {result.stderr}")


PLAIN = (an_orphan, an_orphan_that_stopped, an_orphan_that_ignores_signals,
         an_orphan_of_an_interrupted_program, a_signal_to_plimsoll_alone, a_killed_plimsoll, one_that_works_on,
         one_that_only_sleeps, a_process_that_was_there_before,
         a_stopped_process_with_the_lock, a_lock_that_was_written_over, a_ledger_that_is_cut,
         a_caller_that_ignores_its_children, a_log_that_nobody_reads, a_caller_without_streams,
         a_folder_that_the_loader_splits)
NAMESPACES = (a_bystander_of_pid_1, a_reused_pid, somebody_elses_proc, a_monitor_outside)


def attempt_case(case: Callable[[pathlib.Path], None]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            case(pathlib.Path(folder))
        except (Failed, subprocess.TimeoutExpired) as error:
            return f"{case.__name__}: {error}"
    return ""


def main() -> int:
    global PLIMSOLL
    PLIMSOLL = os.path.realpath(sys.argv[2])
    if sys.argv[1] == "inside":
        {case.__name__: case for case in (bystander_of_pid_1, reused_pid)}[sys.argv[3]](pathlib.Path(sys.argv[4]))
        return 0
    if sys.argv[1] == "namespaces" and not is_allowed():
        print("skipped: a pid namespace, and to choose the numbers of processes in it, is not allowed here")
        return 77
    cases = PLAIN if sys.argv[1] == "plain" else NAMESPACES
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        failures = [failure for failure in pool.map(attempt_case, cases) if failure]
    print("\n".join(failures + [f"{len(cases) - len(failures)} of {len(cases)} cases passed"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

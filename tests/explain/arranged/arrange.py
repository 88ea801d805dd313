#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make real programs fail for a cause that is known before anybody reads their logs.

    arrange.py OUT [--seed N] [--count N] [--scenario NAME] [--plimsoll FILE] --python torch=FILE --python jax=FILE ...

Each scenario of *.toml says what a program is run with, and what is to blame: a batch, another process, a limit on RAM. Scenarios and their
figures are drawn with the seed. That the cause is the cause is shown by undoing it: the same command with the value that `undone`
gives has to end well, and that of `still` has to fail again. A draw that does not pass both is not kept, and said. A scenario without
a cause is a look-alike: the program fails of something else, or warns of memory and ends well.

The same seed draws the same as long as the tables have the same scenarios.

OUT gets the logs and expected.json, which score.py reads. A draw that is there is not made again. Programs for a card run on a virtual
one (`plimsoll rehearse`); limits of control groups, of /dev/shm and the like need root. --python names the interpreters of the
environments that scenarios ask for; scenarios of the others are left out.
"""
import argparse
import glob
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
TIMEOUT_S = 240
GROUP = f"/sys/fs/cgroup/memory/plimsoll-arranged-{os.getpid()}"  # of version 1
MAX_LOG_BYTES = 1 << 18
HOLD = """\
{python} {holder} {mib} {ready} & holder=$!
for turn in $(seq 300); do [ -e {ready} ] && break; sleep 0.1; done
{command}
status=$?; kill $holder; exit $status"""


def read_scenarios():
    """All scenarios by name, in the order of the files and in them."""
    scenarios = {}
    for path in sorted(glob.glob(os.path.join(HERE, "*.toml"))):
        with open(path, "rb") as file:
            for scenario in tomllib.load(file).get("scenario", []):
                if scenario["name"] in scenarios:
                    raise SystemExit(f"{path}: {scenario['name']} is there twice")
                scenarios[scenario["name"]] = scenario
    return scenarios


class Draw:
    """One scenario with its figures drawn."""

    def __init__(self, scenario, rng):
        self.scenario = scenario
        self.values = {name: self.one_of(choice, rng) for name, choice in scenario.get("draw", {}).items()}

    @staticmethod
    def one_of(choice, rng):
        return rng.choice(choice) if isinstance(choice, list) else rng.randrange(choice["from"], choice["to"] + 1, choice.get("step", 1))

    def settings(self, instead):
        """What the scenario sets, with some values instead of those drawn; texts are filled in."""
        values = self.values | {name: value for name, value in instead.items() if name in self.values}
        settings = {name: instead.get(name, self.scenario.get(name)) for name in ("command", "card", "held_mib", "ram_mib", "shm_mib")}
        return {name: re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), str(value))
                for name, value in settings.items() if value is not None}


class Maker:
    def __init__(self, options):
        self.options = options
        self.pythons = dict(pair.split("=", 1) for pair in options.python)
        self.path = os.path.join(options.out, "expected.json")
        os.makedirs(options.out, exist_ok=True)
        self.expected = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.expected = json.load(file)

    def run(self, scenario, settings):
        """Run the command; its exit status and all that it printed, as text without the paths of this machine."""
        python = self.pythons.get(scenario.get("environment", "system"), sys.executable)
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, ".log")
            subprocess.run(["cp", "-r", PROGRAMS + "/.", folder], check=True)
            command = settings["command"]
            if "held_mib" in settings:
                command = HOLD.format(python=python, holder="hold.py", mib=settings["held_mib"], ready=".held", command=command)
            if "shm_mib" in settings:
                command = f"mount -t tmpfs -o size={settings['shm_mib']}m tmpfs /dev/shm\n{command}"
            argv = ["bash", "-c", command]
            if "card" in settings:
                argv = [self.options.plimsoll, "rehearse", "--quiet", "--until", "exit", "--log", log, "--receipt", "/dev/null",
                        "--card", settings["card"], "--", *argv]
            if "shm_mib" in settings:
                argv = ["unshare", "-m", *argv]
            if "ram_mib" in settings:
                os.makedirs(GROUP, exist_ok=True)
                with open(GROUP + "/memory.limit_in_bytes", "w", encoding="ascii") as file:
                    file.write(str(int(settings["ram_mib"]) << 20))
                argv = ["bash", "-c", f"echo $$ > {GROUP}/cgroup.procs; exec {shlex.join(argv)}"]
            environment = os.environ | {"PATH": os.path.dirname(python) + ":" + os.environ["PATH"], "PYTHONUNBUFFERED": "1",
                                        "HF_HUB_OFFLINE": "1", "HOME": folder}
            status, printed = run_group(argv, folder, environment)
            end_group()
            if "card" in settings and os.path.exists(log):
                with open(log, "rb") as file:
                    printed = file.read()
            text = printed[:MAX_LOG_BYTES].decode("utf-8", "replace")
            return status, without_paths(text, folder, python)

    def is_as_arranged(self, draw):
        """The log of a draw, and why its cause is not shown to be the cause, or None."""
        scenario = draw.scenario
        status, text = self.run(scenario, draw.settings({}))
        if status is None or (status != 0) != (scenario.get("ends", "badly") == "badly"):
            return text, f"ended with {status}"
        for change, is_well in (("undone", True), ("still", False)):
            if change in scenario:
                status, other = self.run(scenario, draw.settings(scenario[change]))
                if status is None or (status == 0) != is_well:
                    return other, f"ended with {status} when {change}"
        return text, None

    def write(self, name, text):
        path = os.path.join(self.options.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def make(self, number, scenario):
        name = f"{self.options.seed}-{number:03d}.log"
        if name in self.expected:
            return True
        draw = Draw(scenario, random.Random(f"{self.options.seed} {number}"))
        text, why_not = self.is_as_arranged(draw)
        if why_not:
            print(f"{name} {scenario['name']} {draw.values}: not kept, {why_not}; its log is in not-kept", flush=True)
            self.write(os.path.join("not-kept", name), text)
            return False
        self.write(name, text)
        self.expected[name] = {"framework": scenario["framework"], "cause": scenario.get("cause", []), "not_oom": "cause" not in scenario,
                               "scenario": scenario["name"], "values": draw.values}
        with open(self.path, "w", encoding="utf-8") as file:
            rows = (f" {json.dumps(key)}: {json.dumps(row)}" for key, row in sorted(self.expected.items()))
            file.write("{\n" + ",\n".join(rows) + "\n}\n")
        print(f"{name} {scenario['name']}: {len(text)} bytes", flush=True)
        return True


def run_group(argv, folder, environment):
    """Run in a session of its own; its exit status, None after TIMEOUT_S, and what it printed."""
    with tempfile.TemporaryFile() as printed:
        with subprocess.Popen(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT,
                              start_new_session=True) as child:
            try:
                status = child.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)  # what it left behind
                except ProcessLookupError:
                    pass
        printed.seek(0)
        return status, printed.read()


def end_group():
    """End what is left in the control group, and remove it."""
    if not os.path.isdir(GROUP):
        return
    for _ in range(50):
        with open(GROUP + "/cgroup.procs", encoding="ascii") as file:
            left = file.read().split()
        if not left:
            break
        subprocess.run(["kill", "-KILL", *left], stderr=subprocess.DEVNULL, check=False)  # some may have ended meanwhile
        time.sleep(0.1)
    os.rmdir(GROUP)


def without_paths(text, folder, python):
    prefix = os.path.dirname(os.path.dirname(python))
    for path, instead in ((folder, "/home/user/run"), (os.path.realpath(folder), "/home/user/run"), (prefix, "/opt/venv"),
                          (os.path.expanduser("~"), "/home/user")):
        text = text.replace(path, instead)
    text = re.sub(r"/tmp/[\w.-]+", "/tmp/run", text)
    return re.sub(r"/[^\s\"']+/(lib/python3\.\d+/(?!site-packages))", r"/usr/\1", text)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="draws; default: as many as there are scenarios")
    parser.add_argument("--part", default="1/1", help="1/2: every second draw, for two that run side by side, each with its OUT")
    parser.add_argument("--scenario", action="append", help="only this one; repeat for several")
    parser.add_argument("--plimsoll", default="plimsoll")
    parser.add_argument("--python", action="append", default=[], metavar="ENVIRONMENT=FILE")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    maker = Maker(options)
    scenarios = read_scenarios()
    names = [name for name, scenario in scenarios.items() if scenario.get("environment", "system") in maker.pythons.keys() | {"system"}
             and (not options.scenario or name in options.scenario)]
    random.Random(options.seed).shuffle(names)
    part, n_parts = (int(text) for text in options.part.split("/"))
    numbers = range(part, (options.count or len(names)) + 1, n_parts)
    kept = sum(maker.make(number, scenarios[names[(number - 1) % len(names)]]) for number in numbers)
    print(f"{kept} of {len(numbers)} draws kept in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

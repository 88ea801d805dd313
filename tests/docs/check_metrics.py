#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
check_metrics.py PLIMSOLL NVML SCENES: docs/metrics.md, the dashboard and the recipe for node_exporter hold for what
`plimsoll ps --metrics` prints on the machines of tests/watch/scenes, made in the folder SCENES.

Each text keeps to Prometheus' text format 0.0.4, read strictly. The page lists the series that are printed, and no others;
the dashboard asks for such series only, by labels that they have. The recipe's script replaces the file at once, says
that a look failed, and leaves no old figures; its unit files and its line for cron are well-formed.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RECIPE = os.path.join(ROOT, "docs", "node_exporter")
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
OF_PROMETHEUS = {"instance", "job", "file"}  # labels that a scrape adds
OF_NODE_EXPORTER = {"node_textfile_mtime_seconds"}


class Wrong(Exception):
    """What is wrong with a text, with its line."""


# --- the text format ---

def read_labels(text, where):
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        if not found or found[1] in labels:
            raise Wrong(f"{where}: labels {text!r}")
        labels[found[1]] = found[2]
        at = found.end()
        if at < len(text):
            if text[at] != "," or at + 1 == len(text):
                raise Wrong(f"{where}: labels {text!r}")
            at += 1
    return labels


def read_comment(line, families, where):
    found = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
    if not found:
        raise Wrong(f"{where}: neither HELP nor TYPE: {line!r}")
    what, name, text = found.groups()
    family = families.setdefault(name, {"samples": []})
    if what in family or family["samples"]:
        raise Wrong(f"{where}: a second {what} of {name}, or after its samples")
    if what == "TYPE" and text not in ("gauge", "counter", "untyped"):
        raise Wrong(f"{where}: {name} is a {text}")
    if what == "HELP" and not re.fullmatch(r"(?:[^\\]|\\[\\n])*", text):
        raise Wrong(f"{where}: the help of {name} has a stray backslash")
    family[what] = text
    return name


def read_metrics(text):
    """Families by name: HELP, TYPE and the samples (labels, value)."""
    families, current, seen = {}, None, set()
    if not text.endswith("\n"):
        raise Wrong("the last line does not end")
    for number, line in enumerate(text[:-1].split("\n"), 1):
        where = f"line {number}"
        if line.startswith("#"):
            name = read_comment(line, families, where)
        else:
            found = SAMPLE.fullmatch(line)
            if not found:
                raise Wrong(f"{where}: no sample: {line!r}")
            name, labels = found[1], read_labels(found[2] or "", where)
            if {"HELP", "TYPE"} - set(families.get(name, {})):
                raise Wrong(f"{where}: {name} without HELP and TYPE before it")
            if not math.isfinite(float(found[3])):
                raise Wrong(f"{where}: {found[3]}; what is not known is left out")
            if any(labels == other for other, _ in families[name]["samples"]):
                raise Wrong(f"{where}: {name} twice with these labels")
            families[name]["samples"].append((labels, float(found[3])))
        if name != current and name in seen:
            raise Wrong(f"{where}: {name} is not in one piece")
        seen.add(name)
        current = name
    return families


BAD = ["", "a 1", "a 1\n", "# HELP a x\n# TYPE a gauge\na NaN\n", "# HELP a x\n# TYPE a gauge\na 1\na 1\n", "# TYPE a gauge\na 1\n",
       "# HELP a x\n# TYPE a gauge\na{b=\"1} 1\n", "# HELP a x\n# TYPE a gauge\na{b=\"1\",} 1\n", "# HELP a x\n# TYPE a gauge\na{b=\"\\x\"} 1\n",
       "# HELP a x\n# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n", "# HELP a x\n# TYPE a wrong\na 1\n", "# HELP a x\n# TYPE a gauge\na  1\n", "\n",
       "# HELP a x\n# TYPE a gauge\n# HELP b x\n# TYPE b gauge\na 1\nb 1\na{c=\"1\"} 1\n", "# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n"]


def check_reader():
    """The reader refuses what Prometheus does, and takes what it takes."""
    for text in BAD:
        try:
            read_metrics(text)
        except (Wrong, ValueError):
            continue
        yield f"the reader of this test takes {text!r}"
    good = "# HELP a of \\\\ and \\n\n# TYPE a gauge\na{b=\"x\\\"y\\\\z\\n\",c=\"\"} 1.5e9\na{b=\"\",c=\"ü\"} -0\n"
    if len(read_metrics(good)["a"]["samples"]) != 2:
        yield "the reader of this test reads wrongly"


# --- what is printed, the page, the dashboard ---

def check_printed(path, families):
    for name, family in families.items():
        if not name.startswith("plimsoll_"):
            yield f"{path}: {name} has another prefix"
        if family["TYPE"] != "gauge" or name.endswith("_total"):
            yield f"{path}: {name} should be a gauge"
        for labels, value in family["samples"]:
            if name.startswith("plimsoll_card_") and not {"gpu", "index", "mig"} <= set(labels):
                yield f"{path}: {name} does not say which card"
            if name.endswith("_bytes") and (value < 0 or value != int(value)):
                yield f"{path}: {name} is {value}"
    for needed in ("plimsoll_scrape_success", "plimsoll_build_info"):
        if len(families.get(needed, {"samples": []})["samples"]) != 1:
            yield f"{path}: not one {needed}"


def check_page(printed):
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        rows = [line.split("|")[1] for line in file if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(plimsoll_\w+)`", row)}
    yield from (f"docs/metrics.md lists {name}, which is not printed" for name in sorted(listed - printed))
    yield from (f"docs/metrics.md lacks {name}" for name in sorted(printed - listed))


def questions(node):
    """Every question that a dashboard asks, with the text that labels its answers."""
    if isinstance(node, dict):
        if "expr" in node:
            yield node["expr"], node.get("legendFormat", "")
        if isinstance(node.get("definition"), str):
            yield node["definition"], ""
        for value in node.values():
            yield from questions(value)
    elif isinstance(node, list):
        for value in node:
            yield from questions(value)


def check_dashboard(printed, labels):
    path = os.path.join(ROOT, "docs", "grafana", "plimsoll.json")
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    asked = list(questions(dashboard))
    names = {name for question, _ in asked for name in re.findall(r"\b(?:plimsoll|node)_\w+", question)}
    used = {label for question, _ in asked for label in re.findall(r"(\w+)=[~\"]", question)}
    used |= {label for _, legend in asked for label in re.findall(r"\{\{(\w+)\}\}", legend)}
    used |= {label for question, _ in asked for group in re.findall(r"by \(([^)]*)\)", question) for label in group.split(", ")}
    yield from (f"the dashboard asks for {name}, which nobody has" for name in sorted(names - printed - OF_NODE_EXPORTER))
    yield from (f"the dashboard uses the label {label}, which nothing has" for label in sorted(used - labels - OF_PROMETHEUS))
    yield from (f"the dashboard does not show {name}" for name in sorted(printed - names))
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(ids) != len(set(ids)):
        yield "two panels of the dashboard have one id"
    cells = [(x, y) for panel in dashboard["panels"] for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
             for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])]
    if len(cells) != len(set(cells)) or any(x >= 24 for x, _ in cells):
        yield "panels of the dashboard lie on each other, or outside"


# --- the recipe ---

def run_recipe(folder, body):
    """The script with a plimsoll that does this: its status, and what is in the folder then."""
    program, target = os.path.join(folder, "bin"), os.path.join(folder, "textfile")
    os.makedirs(program, exist_ok=True)
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(program, "plimsoll"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n[ \"$*\" = 'ps --metrics' ] || exit 2\n{body}\n")
    os.chmod(os.path.join(program, "plimsoll"), 0o755)
    done = subprocess.run(["sh", os.path.join(RECIPE, "plimsoll-textfile.sh"), target], check=False,
                          env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"})
    contents = {}
    for name in os.listdir(target):
        with open(os.path.join(target, name), encoding="utf-8") as file:
            contents[name] = file.read()
    return done.returncode, contents


def check_script():
    with tempfile.TemporaryDirectory() as folder:
        peek = f"ls {folder}/textfile/*.prom 2>/dev/null | grep -q . && cat {folder}/textfile/*.prom >{folder}/seen"
        cases = [("echo first", (0, {"plimsoll.prom": "first\n"})),
                 (f"echo sec; {peek}; echo ond", (0, {"plimsoll.prom": "sec\nond\n"})),
                 ("echo plimsoll_scrape_success 0; exit 4", (4, {"plimsoll.prom": "plimsoll_scrape_success 0\n"})),
                 ("exit 70", (70, {}))]
        for body, expected in cases:
            got = run_recipe(folder, body)
            if got != expected:
                yield f"the script of the recipe: after {body!r} there is {got}"
        with open(os.path.join(folder, "seen"), encoding="utf-8") as file:
            if file.read() != "first\n":
                yield "the script of the recipe: half a file can be read"


KEYS = {"Unit": {"Description", "Documentation", "ConditionPathExists"},
        "Service": {"Type", "ExecStart", "StateDirectory", "Environment", "SuccessExitStatus", "TimeoutStartSec", "Nice", "ProtectSystem",
                    "ReadWritePaths", "NoNewPrivileges", "RestrictAddressFamilies", "MemoryMax"},
        "Timer": {"OnBootSec", "OnUnitActiveSec", "AccuracySec"}, "Install": {"WantedBy"}}


def check_unit(name, needed):
    """Sections and keys of systemd.unit(5), systemd.service(5), systemd.timer(5)."""
    section, found = None, {}
    with open(os.path.join(RECIPE, name), encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            head, entry = re.fullmatch(r"\[(\w+)\]", line), re.fullmatch(r"(\w+)=(\S.*)", line)
            if head:
                section = head[1]
            elif entry and entry[1] in KEYS.get(section, ()):
                found[section, entry[1]] = entry[2]
            elif line and not line.startswith("#"):
                yield f"{name}:{number}: {line!r} in section {section}"
    yield from (f"{name}: no {key} in {section}" for section, key in needed if (section, key) not in found)
    script = found.get(("Service", "ExecStart"), "plimsoll-textfile.sh").split("/")[-1].split()
    if "$" in " ".join(found.values()) or "%" in " ".join(found.values()):
        yield f"{name}: systemd gives $ and % a meaning of its own"
    if "ExecStart" in str(needed) and "plimsoll-textfile.sh" not in found["Service", "ExecStart"]:
        yield f"{name} runs {script}"


def check_cron():
    with open(os.path.join(RECIPE, "plimsoll.cron"), encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    jobs = [line for line in lines if not re.match(r"\w+=", line)]
    fields = r"(\*|\d+)(/\d+)?\s+" * 5 + r"root\s+sh \S+/plimsoll-textfile\.sh \S+"
    if len(jobs) != 1 or not re.fullmatch(fields, jobs[0]) or "%" in jobs[0]:
        yield f"plimsoll.cron: {jobs}"


def print_metrics(plimsoll, nvml, folder, option):
    """What ps prints of a made scene; of a folder that is none, of a machine without a card."""
    with tempfile.TemporaryDirectory() as state:
        done = subprocess.run([plimsoll, "ps", option], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                              env={**os.environ, "PLIMSOLL_NVML": nvml, "NVML_SCENE": os.path.join(folder, "nvml"), "XDG_STATE_HOME": state,
                                   "PLIMSOLL_SYSROOT": os.path.join(folder, "root")})
    return done.stdout.decode()


def check_scenes(plimsoll, nvml, scenes):
    """What is wrong; the series that are printed without and with those of processes; their labels."""
    complaints, series, labels = [], {"--metrics": set(), "--metrics=processes": set()}, set()
    for name in [*sorted(os.listdir(scenes)), "no machine"]:
        for option, found in series.items():
            where = f"ps {option} of {name}"
            try:
                families = read_metrics(print_metrics(plimsoll, nvml, os.path.join(scenes, name), option))
            except (Wrong, ValueError) as wrong:
                complaints.append(f"{where}: {wrong}")
                continue
            complaints += check_printed(where, families)
            found |= set(families)
            labels |= {label for family in families.values() for sample, _ in family["samples"] for label in sample}
    return complaints, series["--metrics"], series["--metrics=processes"], labels


def main():
    complaints, printed, with_processes, labels = check_scenes(*sys.argv[1:])
    complaints += [*check_reader(), *check_page(with_processes), *check_dashboard(printed, labels), *check_script(), *check_cron()]
    complaints += check_unit("plimsoll-metrics.service", [("Unit", "Description"), ("Service", "Type"), ("Service", "ExecStart")])
    complaints += check_unit("plimsoll-metrics.timer", [("Unit", "Description"), ("Timer", "OnUnitActiveSec"), ("Install", "WantedBy")])
    print("\n".join(complaints) if complaints else f"{len(with_processes)} series, the page, the dashboard and the recipe agree")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A folder of src/ is a word of the sentence in ARCHITECTURE.md; includes point along it and never back. Public headers
may be included by all, and among themselves in no circle. Prints file:line of every include that breaks a rule.
"""
import os
import re
import sys

ORDER = ["base", "vgpu", "source", "model", "card", "bill", "receipt", "engine", "diagnose", "plan", "rehearse", "emit", "report", "cli"]
PUBLIC = "plimsoll"
# Inside a folder: a part that knows nothing of the other.
BARRED = {"engine/ggml": ["engine/llamacpp", "engine/ollama"]}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = INCLUDE.match(line)
            if found:
                yield number, found[1] == '"', found[2]


def sources(top):
    for folder, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


def objection(here, target):
    """Why a file of the folder `here` ("engine/ggml") may not include `target`, or None."""
    word, other = here.split("/")[0], target.split("/")[0]
    if other == PUBLIC:
        return None if os.path.exists(os.path.join("include", target)) else "there is no such public header"
    if not os.path.exists(os.path.join("src", target)):
        return "there is no such file: write the path from src/"
    if other not in ORDER:
        return f"'{other}' is no word of the sentence"
    if ORDER.index(other) > ORDER.index(word):
        return f"'{word}' comes before '{other}'"
    if any(target.startswith(barred) for part, list in BARRED.items() if here.startswith(part) for barred in list):
        return f"{here} must not know it"
    return None


def check_sources():
    for path in sources("src"):
        here = os.path.dirname(os.path.relpath(path, "src"))
        if here.split("/")[0] not in ORDER:
            yield f"{path}:1: '{here}' is no word of the sentence (tools/check-includes.py lists them)"
            continue
        for number, is_quoted, target in includes(path):
            why = objection(here, target) if is_quoted else None
            if why:
                yield f'{path}:{number}: #include "{target}": {why}'


def check_public():
    graph = {}
    for path in sources("include"):
        name = os.path.relpath(path, "include")
        graph[name] = []
        for number, is_quoted, target in includes(path):
            if is_quoted and target.startswith(PUBLIC + "/"):
                graph[name].append((target, path, number))
            elif is_quoted or target not in ("stdbool.h", "stddef.h", "stdint.h"):
                yield f"{path}:{number}: a public header includes public headers and stdbool, stddef, stdint only"
    done = set()

    def visit(name, trail):
        for target, path, number in graph.get(name, []):
            if target in trail + [name]:
                yield f"{path}:{number}: a circle: {' -> '.join(trail + [name, target])}"
            elif target not in done:
                yield from visit(target, trail + [name])
        done.add(name)

    for name in sorted(graph):
        yield from visit(name, [])


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    complaints = [*check_sources(), *check_public()]
    print("\n".join(complaints) if complaints else "includes point along the sentence")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

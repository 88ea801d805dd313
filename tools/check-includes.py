#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A folder of src/ is a floor of the house in ARCHITECTURE.md: a file includes files of its own floor and of those below.
Four folders have floors inside, and rooms on one floor that know nothing of each other. Public headers may be included
by all, and among themselves in no circle. Prints file:line of every include that breaks a rule.
"""
import os
import re
import sys

# The floors, lowest first.
ORDER = ["base", "vgpu", "source", "step", "model", "card", "bill", "receipt", "engine", "trace", "diagnose", "plan", "watch", "record", "rehearse",
         "sweep", "emit", "report", "cli"]
PUBLIC = "plimsoll"
# Inside a folder, lowest first; rooms on one floor know nothing of each other. Files that are in no
# room are on the top floor.
ROOMS = {
    "vgpu": [["core/"], ["values/"], ["kernels/"], ["driver/", "preload/"], ["runtime/", "nvml/"], ["nccl/", "libs/"]],
    "diagnose": [["finding."], ["scan/"], ["cause/"], ["remedy/"]],
}
# Rooms that know nothing of others, and are not above them either.
BARRED = {
    "vgpu/runtime/": ["vgpu/preload/"],
    "vgpu/nvml/": ["vgpu/preload/"],
    "vgpu/nccl/": ["vgpu/preload/"],
    "vgpu/libs/": ["vgpu/preload/"],
    "engine/ggml/": ["engine/llamacpp", "engine/ollama", "engine/vllm"],
    "engine/llamacpp/": ["engine/ollama", "engine/vllm"],
    "engine/ollama/": ["engine/vllm"],
    "engine/vllm/": ["engine/ggml", "engine/llamacpp", "engine/ollama"],
}
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


def room(path):
    """(the number of the floor inside its folder, the room) of a path below src/."""
    word, _, rest = path.partition("/")
    floors = ROOMS.get(word, [])
    for number, rooms in enumerate(floors):
        for name in rooms:
            if rest.startswith(name):
                return number, name
    return len(floors), ""


def objection(source, target):
    """Why the file `source` ("engine/ggml/graph.c", as all paths below src/) may not include `target`, or None."""
    word, other = source.split("/")[0], target.split("/")[0]
    if other == PUBLIC:
        return None if os.path.exists(os.path.join("include", target)) else "there is no such public header"
    if not os.path.exists(os.path.join("src", target)):
        return "there is no such file: write the path from src/"
    if other not in ORDER:
        return f"'{other}' is not a floor"
    if ORDER.index(other) > ORDER.index(word):
        return f"'{other}' is above '{word}'"
    if word == other:
        (here, name), (there, other_name) = room(source), room(target)
        if there > here or (there == here and name != other_name):
            return f"'{word}/{other_name}' is not below '{word}/{name}'"
    if any(target.startswith(barred) for part, others in BARRED.items() if source.startswith(part) for barred in others):
        return f"{os.path.dirname(source)} must not know it"
    return None


def check_sources():
    for path in sources("src"):
        source = os.path.relpath(path, "src")
        if source.split("/")[0] not in ORDER:
            yield f"{path}:1: '{os.path.dirname(source)}' is not a floor (tools/check-includes.py lists them)"
            continue
        for number, is_quoted, target in includes(path):
            why = objection(source, target) if is_quoted else None
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
    print("\n".join(complaints) if complaints else "includes follow the order of the folders")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

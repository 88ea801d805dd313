#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
check-circles.py BUILD: no two files of src/ take symbols from each other, directly or through others.

It reads the object files of each target that Meson built from src/ (nm) and looks at each library and the program by
itself: src/ has files that several libraries compile. The program is looked at together with the libraries it is
linked from. A name of libc's is taken from libc, also where a file replaces it (the preload library). For each circle
it prints the shortest way round, with the symbols that each file takes from the next.
"""
import collections
import ctypes
import os
import re
import subprocess
import sys

# Targets whose objects form one whole: the program and the two static libraries below it.
WHOLES = {"plimsoll": ["plimsoll.p", "libplimsoll-core.a.p", "libplimsoll-program.a.p"]}
SYMBOL = re.compile(r"^(?P<path>.*):[0-9a-f]* +(?P<kind>[TDBRVWiU]) (?P<name>\S+)$")
LIBC = ctypes.CDLL("libc.so.6")


def targets(build):
    """The folders of objects: {name of the whole: [folder]}."""
    found = {}
    for folder, folders, _ in os.walk(os.path.join(build, "src")):
        for name in sorted(folders):
            if name.endswith(".p"):
                whole = next((whole for whole, parts in WHOLES.items() if name in parts), name.removesuffix(".p"))
                found.setdefault(whole, []).append(os.path.join(folder, name))
    return found


def objects(folders):
    return sorted(os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name.endswith(".c.o"))


def source_of(path):
    """Meson's name of an object, as a person knows the file: vgpu_core_ledger.c.o."""
    return os.path.basename(path).removesuffix(".o")


def symbols(paths):
    """{object: (taken, given)} of all, with few calls of nm."""
    found = {path: (set(), set()) for path in paths}
    for start in range(0, len(paths), 200):
        listed = subprocess.run(["nm", "-A", *paths[start:start + 200]], stdout=subprocess.PIPE, check=True, text=True)
        for line in listed.stdout.splitlines():
            match = SYMBOL.match(line)
            if match:
                found[match["path"]][match["kind"] != "U"].add(match["name"])
    return found


def edges(paths):
    """{object: {object: [symbols taken from it]}}"""
    table = symbols(paths)
    givers = collections.defaultdict(set)
    for path, (_, given) in table.items():
        for symbol in given:
            givers[symbol].add(path)
    graph = {path: collections.defaultdict(list) for path in paths}
    for path, (taken, _) in table.items():
        for symbol in sorted(symbol for symbol in taken if not hasattr(LIBC, symbol)):
            for giver in givers.get(symbol, ()):
                if giver != path:
                    graph[path][giver].append(symbol)
    return graph


def components(graph):
    """Tarjan's strongly connected components of more than one file, without recursion."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, following = work[-1]
            target = next(following, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on_stack.discard(part[-1])
                    if len(part) > 1:
                        found.append(part)
            elif target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter(graph[target])))
            elif target in on_stack:
                low[node] = min(low[node], index[target])
    return found


def shortest_way_round(graph, part):
    """The smallest circle of a component: breadth first from each of its files."""
    inside, best = set(part), None
    for start in sorted(part):
        before, queue = {start: None}, collections.deque([start])
        while queue:
            node = queue.popleft()
            if start in graph[node]:
                way = [node]
                while before[way[-1]]:
                    way.append(before[way[-1]])
                best = way[::-1] if best is None or len(way) < len(best) else best
                break
            for target in graph[node]:
                if target in inside and target not in before:
                    before[target] = node
                    queue.append(target)
    return best


def complaints(name, paths):
    graph = edges(paths)
    for part in components(graph):
        way = shortest_way_round(graph, part)
        yield f"{name}: a circle of {len(part)} files: {', '.join(sorted(source_of(path) for path in part))}"
        for here, there in zip(way, way[1:] + way[:1]):
            yield f"    {source_of(here)} takes {', '.join(graph[here][there][:3])} from {source_of(there)}"


def main():
    if len(sys.argv) != 2 or not os.path.isdir(os.path.join(sys.argv[1], "src")):
        sys.exit("usage: check-circles.py BUILD (a folder that Meson built)")
    found, n = [], 0
    for name, folders in sorted(targets(sys.argv[1]).items()):
        paths = objects(folders)
        n += len(paths)
        if paths:
            found += complaints(name, paths)
    if n == 0:
        sys.exit(f"check-circles.py: no objects in {sys.argv[1]}/src: build first")
    print("\n".join(found) if found else f"no circle among the files of {n} objects")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

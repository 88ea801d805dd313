#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Write the list of names that a virtual library exports (src/vgpu/exports/names/SONAME) from NVIDIA's own builds of it. Only C
names with one of the prefixes are taken; the exports of several versions of the library are merged.

    exports.py SONAME ANSWER PREFIXES LIBRARY=VERSION...

ANSWER is the library's code for "not supported", PREFIXES an extended regular expression, VERSION the name and
version of the package that LIBRARY comes from. Needs nm.
"""
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "src/vgpu/exports/names"


def exported(library):
    """Pairs of a name, with its size if it is data, and its version node."""
    listing = subprocess.run(["nm", "-D", "-S", "--defined-only", library], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        match = re.match(r"\w+ (\w+) ([TWDBRi]) ([A-Za-z_]\w*)(?:@@?(\S+))?$", line)
        if match:
            size, kind, name, node = match.groups()
            yield name + (f" data {int(size, 16)}" if kind in "DBR" else ""), node


def main():
    soname, answer, prefixes = sys.argv[1:4]
    sources = [argument.rsplit("=", 1) for argument in sys.argv[4:]]
    found = {pair for library, _ in sources for pair in exported(library) if re.match(prefixes, pair[0])}
    nodes = {node for _, node in found}
    if len(nodes) != 1:
        sys.exit(f"{soname}: {len(nodes)} version nodes: {nodes}")
    lines = ["# SPDX-License-Identifier: MIT", f"# {soname}, as exported by " + " and ".join(v for _, v in sources)]
    lines += [f"# node {node}" for node in nodes if node] + [f"# answer {answer}"]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / soname).write_text("\n".join(lines + sorted({name for name, _ in found})) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The names that NVIDIA's newest wheels export, as tools/wheels.py recorded them, and whether the virtual libraries have them:
a program does not start if one is missing. Also what only older wheels have, which stays.

    exports.py VGPU_FOLDER RECORD...
"""
import gzip
import pathlib
import sys

import imports


def main():
    folder, records = pathlib.Path(sys.argv[1]), sys.argv[2:]
    newest, n_missing = {}, 0
    for path in records:
        head, *names = gzip.decompress(pathlib.Path(path).read_bytes()).decode().splitlines()
        soname, package, version = head.split()
        ours = {name for name, _ in imports.symbols(folder / soname, "--defined-only")}
        missing = sorted(set(names) - ours)
        newest.setdefault(soname, set()).update(names)
        n_missing += len(missing) + (not names)
        print(f"{soname}: {package} {version}: {len(names)} names, {len(missing)} missing", *missing, sep="\n    ")
    for soname, names in newest.items():
        ours = {name for name, version in imports.symbols(folder / soname, "--defined-only") if version == soname}
        print(f"{soname}: {len(ours - names)} more: of older ones, or of other versions of a shared list")
    return 1 if n_missing or not newest else 0


if __name__ == "__main__":
    sys.exit(main())

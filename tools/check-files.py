#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every source and script names its licence in its first lines, and no line of one is longer than 150 columns."""
import os
import subprocess
import sys

SOURCES = (".c", ".h", ".py", ".sh", ".scd", ".js", ".css", "page.html", "meson.build", "Makefile", ".ci/run")
MAX_COLUMNS = 150


def files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True,
                            text=True, check=False) if os.path.exists(".git") else None
    if listed and listed.returncode == 0:
        return [path for path in listed.stdout.splitlines() if os.path.isfile(path)]
    found = []
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith("build") and name not in (".git", ".cache")]
        found += [os.path.relpath(os.path.join(folder, name)) for name in names]
    return found


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    complaints = []
    for path in sorted(files()):
        if not path.endswith(SOURCES):
            continue
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if not any("SPDX-License-Identifier: MIT" in line for line in lines[:6]):
            complaints.append(f"{path}:1: no SPDX line")
        complaints += [f"{path}:{number}: longer than {MAX_COLUMNS} columns" for number, line in enumerate(lines, 1)
                       if len(line) > MAX_COLUMNS]
    print("\n".join(complaints) if complaints else "licence lines and line lengths are right")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

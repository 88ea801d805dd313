#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The shape of src/: no folder holds more than 30 files of its own, no function has more than 60 lines, no file more than
600, and no struct, union or enum tag of src/ and include/ means two things. Prints file:line of what breaks a rule.

It relies on the layout that clang-format makes: the opening brace of a function stands alone in the first column, as
does its closing one; so does the definition of a tag stand on a line.
"""
import os
import re
import sys

MAX_FILES = 30
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 600
DEFINITION = re.compile(r"^ *(?:typedef |static |const |extern )*(struct|union|enum) (\w+) \{")


def sources(top):
    for folder, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


def check_folders():
    for folder, _, names in sorted(os.walk("src")):
        if len(names) > MAX_FILES:
            yield f"{folder}:1: {len(names)} files; {MAX_FILES} is the most: make rooms of it"


def check_functions(path, lines):
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            length = number - start + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{start}: a function of {length} lines; {MAX_FUNCTION_LINES} is the most"
            start = None


def check_tags(files):
    """A tag of a .c file is its own affair only when no header and no other file has it with another meaning."""
    meanings = {}
    for path, lines in files.items():
        for number, line in enumerate(lines, 1):
            match = DEFINITION.match(line)
            if match:
                meanings.setdefault(match[2], []).append((path, number, match[1]))
    for tag, places in sorted(meanings.items()):
        is_shared = any(path.endswith(".h") for path, _, _ in places) or tag.startswith("plim_")
        if is_shared and len(places) > 1:
            for path, number, kind in places[1:]:
                yield f"{path}:{number}: '{kind} {tag}' is also defined at {places[0][0]}:{places[0][1]}"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = {}
    for path in [*sources("include"), *sources("src")]:
        with open(path, encoding="utf-8") as file:
            files[path] = file.read().splitlines()
    complaints = [*check_folders(), *check_tags(files)]
    for path, lines in files.items():
        complaints += check_functions(path, lines)
        if path.endswith(".c") and len(lines) > MAX_FILE_LINES:
            complaints.append(f"{path}:{MAX_FILE_LINES + 1}: {len(lines)} lines; {MAX_FILE_LINES} is the most: split it")
    print("\n".join(complaints) if complaints else "folders, files and functions are small; every tag has one meaning")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

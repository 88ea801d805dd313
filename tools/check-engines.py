#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What belongs to one engine stands in src/engine.

1. An engine's flag is spelled in its table of options only. Outside src/engine, src/diagnose (which reads and advises
   on logs of any program) and src/source, no string of the code has the spelling of one as a word.
2. src/bill, receipt, plan, report, emit and cli do not know an engine by name: neither in a string, nor in an
   identifier, nor in the path of an include.

Texts for people are free in both: the strings of .examples, .summary, .arguments and .help in an initializer, of an
array called `usage`, and the help of a row of options. A row of options is a group in brackets whose first string is
the spelling of an option ("-c --card"); its help is a later string of it with a space in it. An option of Plimsoll's
own may be spelled as an engine's is: the first string of such a row in src/cli says so.

Prints file:line of what breaks a rule.
"""
import os
import re
import sys

FLAG_FREE = ("src/engine/", "src/diagnose/", "src/source/")
NAMELESS = ("src/bill/", "src/receipt/", "src/plan/", "src/report/", "src/emit/", "src/cli/")
TEXTS = {".examples", ".summary", ".arguments", ".help", "usage"}
SPELLINGS = re.compile(r"-{1,2}[A-Za-z][\w-]*(?: -{1,2}[A-Za-z][\w-]*)*")
WORD = re.compile(r"(?<![\w-])-{1,2}[A-Za-z][\w-]*")
NAME = re.compile(r"(?i)(?<![a-z])(?:llama[._-]?cpp|llama-[a-z]+|ollama|vllm|sglang|exllama)(?![a-z])")
NAME_IN_IDENTIFIER = re.compile(r"(?i)(?:^|_)(?:llama|llamacpp|ollama|vllm|sglang)(?:_|$)")
TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<include>\#\s*include\s*"[^"\n]*")
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<character>'(?:[^'\\\n]|\\.)*')
    |(?P<identifier>\.?[A-Za-z_]\w*)
    |(?P<mark>[][(){}=;,])
    |(?P<line>\n)""", re.S | re.X)


class Group:
    """A pair of brackets that is open: the field or variable it is the value of, and the strings directly in it."""

    def __init__(self, opening, field):
        self.opening, self.field, self.strings, self.target = opening, field, [], ""

    def is_row(self):
        return bool(self.strings) and SPELLINGS.fullmatch(self.strings[0]) is not None


def tokens(text):
    """(kind, text, line) without comments; neighbouring strings are one."""
    line, waiting = 1, None
    for match in TOKEN.finditer(text):
        kind, found = match.lastgroup, match[0]
        if kind == "string":
            waiting = (waiting[0] + found[1:-1], waiting[1]) if waiting else (found[1:-1], line)
        elif kind not in ("line", "comment"):
            if waiting:
                yield "string", *waiting
                waiting = None
            yield kind, found, line
        line += found.count("\n")
    if waiting:
        yield "string", *waiting


def strings_and_names(text):
    """(kind, text, line, is it for people) of strings, identifiers and includes; "row": the names of an option."""
    groups, before = [Group("{", "")], ""
    for kind, found, line in tokens(text):
        group = groups[-1]
        if kind == "string":
            is_help = group.is_row() and " " in found and not SPELLINGS.fullmatch(found)
            yield kind, found, line, (group.target or group.field) in TEXTS or is_help
            group.strings.append(found)
            if group.is_row() and SPELLINGS.fullmatch(found):  # names, and those of the negative form
                yield "row", found, line, False
        elif kind in ("identifier", "include"):
            yield kind, found, line, False
            if group.opening != "[":  # "usage[N] = " is about usage
                before = found
        elif kind == "mark" and found in "({[":
            groups.append(Group(found, group.target or group.field))
        elif kind == "mark" and found in ")}]" and len(groups) > 1:
            groups.pop()
        elif found == "=":
            group.target = before
        elif found in ",;":
            group.target = ""


def sources():
    for folder, _, names in sorted(os.walk("src")):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(strings_and_names(file.read()))


def words(spellings):
    return set(spellings.split())


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = {path: read(path) for path in sources()}
    tables = [path for path in files if path.startswith("src/engine/") and os.path.basename(path).startswith("options")]
    if not tables:
        sys.exit("check-engines.py: no table of options in src/engine (options.c, options.h)")
    flags, own = set(), set()
    for path, found in files.items():
        rows = set().union(*(words(text) for kind, text, _, _ in found if kind == "row"), set())
        if path in tables:
            flags |= rows
        elif path.startswith("src/cli/"):
            own |= rows
    complaints = []
    for path, found in files.items():
        for kind, text, line, is_for_people in found:
            if is_for_people:
                continue
            if kind == "string" and not path.startswith(FLAG_FREE):
                complaints += [f"{path}:{line}: '{word}' is an engine's flag: its table of options spells it"
                               for word in WORD.findall(text) if word in flags - own]
            if path.startswith(NAMELESS):
                name = NAME_IN_IDENTIFIER.search(text) if kind == "identifier" else NAME.search(text) or (
                    kind == "include" and re.search(r"/(?:llamacpp|ollama|vllm)\b", text))
                if name:
                    complaints.append(f"{path}:{line}: {text[:60]!r} names an engine")
    print("\n".join(complaints) if complaints else f"{len(flags)} flags and the names of engines stand in src/engine only")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

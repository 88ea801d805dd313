#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Text for people leaves through src/report/print.c, which cleans what a name or a log may hold; JSON leaves through
src/report/json_text.c, which escapes it, and takes texts of any bytes. No other file of src/report and src/cli writes
to a stream or makes a string of JSON. Prints file:line of every call that breaks the rule.
"""
import os
import re
import sys

FOLDERS = ["src/report", "src/cli"]
# What may write, and by which calls.
ALLOWED = {
    "src/report/print.c": {"fwrite"},
    "src/report/json_text.c": {"fwrite", "fprintf", "fputc", "json_dump_callback", "json_stringn"},
    "src/report/trace/page.c": {"fwrite"},  # a page of HTML around base64
    "src/cli/top/interrupts.c": {"write"},  # bytes of terminfo, from a signal handler: the terminal as it was, at a crash
    "src/cli/generate.c": {"fprintf", "fputs", "fputc"},  # completions and the manual: our own tables, for files
}
CALL = re.compile(
    r"(?<![\w.>])(v?f?w?printf|v?dprintf|f?puts|f?putws|f?putc|f?putwc|putw?char|(?:fputs|fputc|putc|putchar|fwrite)_unlocked|"
    r"fwrite|p?writev?|send|perror|psignal|psiginfo|v?errx?|v?warnx?|error|v?syslog|json_dump\w*|json_stringn?(?:_nocheck)?|plim_system_write)\s*\("
)
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def calls(path):
    with open(path, encoding="utf-8") as file:
        text = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), file.read())
    for number, line in enumerate(text.splitlines(), 1):
        for found in CALL.finditer(line):
            yield number, found[1]


def check(path):
    allowed, used = ALLOWED.get(path, set()), set()
    for number, call in calls(path):
        used.add(call)
        if call not in allowed:
            yield f"{path}:{number}: {call}(): see src/report/print.h and src/report/json_text.h"
    for call in sorted(allowed - used):
        yield f"{path}:1: {call}() is allowed in tools/check-print.py and not called"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    complaints, n_files = [], 0
    for top in FOLDERS:
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    n_files += 1
                    complaints += check(os.path.join(folder, name))
    complaints += [f"{path}:1: there is no such file" for path in ALLOWED if not os.path.exists(path)]
    print("\n".join(complaints) if complaints else f"{n_files} files of {' and '.join(FOLDERS)} print through plim_print()")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
    check_security.py PROGRAM

Each promise of SECURITY.md names its tests, and they are there: `FILE`, or `FILE: NAME` with a function of a test in C or
Python or a case of a table of cases. The promise that nothing opens a network connection is tested here: the program
imports no function that could.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = "SECURITY.md"
TABLE_ROW = re.compile(r"^\| (.+?) \| (.+?) \|$", re.M)
NAMED = re.compile(r"`([\w./-]+)(?:: ([^`]+))?`")
NETWORK = {"socket", "connect", "getaddrinfo", "gethostbyname", "sendto", "sendmsg", "socketpair", "accept", "listen"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def has_test(path, name):
    """True when a file of tests holds the test with that name."""
    if not os.path.exists(os.path.join(ROOT, path)):
        return False
    if name is None:
        return True
    forms = {".c": rf"^static void {re.escape(name)}\(", ".py": rf"^def {re.escape(name)}\(", ".cases": rf"^== {re.escape(name)}$"}
    form = forms.get(os.path.splitext(path)[1], re.escape(name))
    return re.search(form, read(path), re.M) is not None


def check_promises():
    rows = [row for row in TABLE_ROW.findall(read(PAGE)) if row != ("promise", "tests") and not row[0].startswith("---")]
    if not rows:
        yield f"{PAGE}: no table of promises"
    for promise, tests in rows:
        named = NAMED.findall(tests)
        if not named:
            yield f"{PAGE}: no test for: {promise}"
        for path, name in named:
            if not path.startswith(("tests/", "fuzz/", "tools/")) or not has_test(path, name or None):
                yield f"{PAGE}: there is no test {path}: {name}"


def check_no_network(program):
    listed = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True).stdout
    imported = {line.split()[-1].partition("@")[0] for line in listed.splitlines() if line.split()}
    if "memcpy" not in imported and "malloc" not in imported:
        yield f"{program}: its imports cannot be read"
    yield from (f"{program} imports {name}" for name in sorted(NETWORK & imported))


def main():
    complaints = [*check_promises(), *check_no_network(sys.argv[1])]
    print("\n".join(complaints) if complaints else "each promise of SECURITY.md has its tests")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

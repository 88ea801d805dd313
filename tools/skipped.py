#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""skipped.py TESTLOG.json: the tests that Meson skipped, with the last line of what each said."""
import json
import sys


def main(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            test = json.loads(line)
            if test["result"] == "SKIP":
                said = (test.get("stdout", "") + test.get("stderr", "")).strip().splitlines()
                print(f"      skipped: {test['name']}: {said[-1] if said else 'no reason given'}")


if __name__ == "__main__":
    main(sys.argv[1])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make docs/images/trace.png: docs_image.py --plimsoll PROGRAM --python PYTHON [OUT.png]

PYTHON has PyTorch: train.py is rehearsed on a virtual RTX 3060, its snapshot drawn, and the page photographed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import browser

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEIGHT = 1280, 800


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("out", nargs="?", default=HERE.parents[1] / "docs" / "images" / "trace.png")
    arguments = parser.parse_args()
    program = browser.find()
    if not program:
        raise SystemExit("there is no Chromium (Debian: chromium)")
    with tempfile.TemporaryDirectory() as folder:
        snapshot, page = (os.path.join(folder, name) for name in ("snapshot.pickle", "memory.html"))
        subprocess.run([arguments.plimsoll, "rehearse", "--card", "RTX 3060", "--until", "exit", "--quiet", "--", arguments.python,
                        HERE / "train.py", snapshot], check=True)
        subprocess.run([arguments.plimsoll, "trace", snapshot, "--html", page], check=True)
        with browser.Browser(program) as opened:
            shown = opened.page(WIDTH, HEIGHT)
            shown.open(page)
            shown.settle()
            shown.screenshot(arguments.out)
            if shown.complaints:
                raise SystemExit("\n".join(shown.complaints))
    print(f"{arguments.out}: {os.path.getsize(arguments.out)} bytes")


if __name__ == "__main__":
    sys.exit(main())

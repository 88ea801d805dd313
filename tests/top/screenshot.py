#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The screenshot of docs/top.md: plimsoll top on the machine of usual.scene, where training grows, in a terminal.

    screenshot.py --plimsoll PROGRAM --nvml SCENE_NVML --model FILE.gguf [--seconds N] OUT.svg

It watches for N seconds (40), so that growth is seen; with --seconds 0 it takes the first screen.
"""
from __future__ import annotations

import argparse
import pathlib
import re
import sys
import tempfile
import time

import svg
import test

COLUMNS, LINES, GROWTH_BYTES_PER_S = 120, 14, 2 << 20
HOSTILE = re.compile(r"args = .*\033.*")
SELECTED = re.compile(r"\033\[(?:\d+;)*7m[^\n]*train\.py")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scene = (test.HERE / "usual.scene").read_text()
        place = test.Place(options, folder, HOSTILE.sub("args = ./render --name=モデル", scene))
        nvml = pathlib.Path(place.environment["NVML_SCENE"])
        before = nvml.read_text()
        with place.terminal(COLUMNS, LINES) as terminal:
            test.start(terminal)
            begin = time.monotonic()
            while time.monotonic() < begin + options.seconds:
                more = int((time.monotonic() - begin) * GROWTH_BYTES_PER_S)
                new = nvml.with_suffix(".new")
                new.write_text(before.replace(f"compute 41233 {15 << 30}", f"compute 41233 {(15 << 30) + more}").replace(
                    f"{24564 << 20} {360 << 20} {4204 << 20}", f"{24564 << 20} {360 << 20} {(4204 << 20) - more}"))
                new.rename(nvml)
                time.sleep(0.2)  # the machine lives on; nothing is waited for
            terminal.keys("j")
            terminal.until_true("the selection", lambda: bool(SELECTED.search(terminal.screen("-e"))))
            pathlib.Path(options.out).write_text(svg.render(terminal.screen("-e"), COLUMNS, "plimsoll top"))
            terminal.keys("q")
    return 0


if __name__ == "__main__":
    sys.exit(main())

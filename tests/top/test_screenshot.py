#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The script of the screenshot still makes one: well-formed, with the cards, the processes and their colours."""
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> int:
    if not shutil.which("tmux"):
        print("no tmux here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "top.svg")
        subprocess.run([sys.executable, os.path.join(HERE, "screenshot.py"), "--seconds", "0", *sys.argv[1:], out], check=True)
        for path in (out, os.path.join(HERE, "..", "..", "docs", "images", "top.svg")):
            root = xml.etree.ElementTree.parse(path).getroot()
            text = "".join(root.itertext())
            assert root.tag.endswith("svg") and all(word in text for word in ("RTX 4090", "train.py", "MEMORY", "plimsoll top")), path
            assert len({part.get("fill") for part in root}) >= 4, f"{path} has few colours"
    print("the screenshot is made, and the one in docs/ is well-formed")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""Three processes that hold 40 MiB of the host each, at the same time."""
import subprocess
import sys
import time

held = bytearray(b"x" * (40 << 20))
if len(sys.argv) == 1:
    children = [subprocess.Popen([sys.executable, __file__, "child"]) for _ in range(2)]
    for child in children:
        child.wait()
else:
    time.sleep(1.5)

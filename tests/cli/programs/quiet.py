# SPDX-License-Identifier: MIT
"""Takes memory, says so without a line end, and is silent until the file of its first argument is there."""
import os
import sys
import time

import card

card.alloc(100)
print("Loading ...", end="", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
if len(sys.argv) > 2:
    print(sys.argv[2], flush=True)

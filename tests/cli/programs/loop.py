# SPDX-License-Identifier: MIT
"""A loop that does not end: `loop.py N` takes memory in its first N rounds, as caches do that grow."""
import sys
import time

import card

growing = int(sys.argv[1])
card.alloc(100)
for nth in range(100000):
    for layer in range(4):
        for kernel in range(3):
            card.launch(layer * 16 + kernel)
    if nth < growing:
        card.alloc(10)
    card.wait()
    card.launch(1000)
    card.wait()
    time.sleep(0.01)

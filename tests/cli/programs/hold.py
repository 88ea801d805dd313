# SPDX-License-Identifier: MIT
"""Take memory of the card and hold it: hold.py MIB [SECONDS]. Says how many MiB were in use before, once it holds it."""
import ctypes
import sys
import time

import card

free, total = ctypes.c_size_t(), ctypes.c_size_t()
card.cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
if card.alloc(int(sys.argv[1]))[0]:
    sys.exit("out of memory")
print((total.value - free.value) // card.MIB, flush=True)
if len(sys.argv) > 2:
    time.sleep(float(sys.argv[2]))

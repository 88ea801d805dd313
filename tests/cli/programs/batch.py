# SPDX-License-Identifier: MIT
"""
Takes 64 MiB for each of N, and fails when there is no more. `batch.py N fails-at N` fails with 3, `caught` does not, `aborts`
ends itself, `empties` frees what it has and asks again; after it ran out, `goes-on` launches a kernel and fails for another
reason, and `cleans-up` does and fails for memory.
"""
import os
import sys

import card


def forward(n: int, empties: bool) -> int:
    held = []
    for _ in range(n):
        error, pointer = card.alloc(64)
        if error and empties:
            while held:
                card.free(held.pop())
            error, pointer = card.alloc(64)
        if error:
            return error
        held.append(pointer)
    return 0


if sys.argv[2:] in (["goes-on"], ["cleans-up"]):
    card.launch(1)  # the code is on the card while there is room
error = 3 if sys.argv[2:] == ["fails-at", sys.argv[1]] else forward(int(sys.argv[1]), sys.argv[2:] == ["empties"])
if error and sys.argv[2:] in (["goes-on"], ["cleans-up"]):
    card.launch(1)
    if sys.argv[2] == "goes-on":
        raise ValueError("a label is missing")
    raise MemoryError("CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 8.00 GiB")
if sys.argv[2:] == ["aborts"]:
    os.abort()
sys.exit(0 if sys.argv[2:] == ["caught"] else error)

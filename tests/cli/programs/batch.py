# SPDX-License-Identifier: MIT
"""
`batch.py N` takes 64 MiB for each of N, and fails when there is no more; `batch.py N fails-at M` fails with M;
`batch.py N caught` does not; `batch.py N aborts` ends itself.
"""
import os
import sys

import card


def forward(n: int) -> int:
    for _ in range(n):
        error, _ = card.alloc(64)
        if error:
            return error
    return 0


error = 3 if sys.argv[2:] == ["fails-at", sys.argv[1]] else forward(int(sys.argv[1]))
if sys.argv[2:] == ["aborts"]:
    os.abort()
sys.exit(0 if sys.argv[2:] == ["caught"] else error)

# SPDX-License-Identifier: MIT
"""`answer.py N` makes two answers of N tokens, which end earlier when the card says so."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "like"))

from transformers.generation.utils import _has_unfinished_sequences  # noqa: E402

import card  # noqa: E402

_, flag = card.alloc(1)
for _ in range(2):
    n = 1
    while n < int(sys.argv[1]) and _has_unfinished_sequences(flag):
        n += 1
    print(n, "tokens")

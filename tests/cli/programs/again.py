# SPDX-License-Identifier: MIT
"""Asks for too much, gives memory back as an allocator with a cache does, and asks again."""
import sys

import card

_, cache = card.alloc(6000)
error, _ = card.alloc(5000)
card.free(cache)
again, _ = card.alloc(5000)
sys.exit(0 if error and not again else 1)

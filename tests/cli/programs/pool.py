# SPDX-License-Identifier: MIT
"""`pool.py N` has a pool of 16 blocks, as JAX has, and needs N of them; what does not fit raises JAX's error."""
import sys

import card


class JaxRuntimeError(Exception):
    pass


card.alloc(1600)
if int(sys.argv[1]) > 16:
    raise JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1073741824 bytes.")

# SPDX-License-Identifier: MIT
"""The flag that ends an answer, read as transformers reads it."""
import ctypes

import card


def _has_unfinished_sequences(flag: ctypes.c_void_p) -> bool:
    value = ctypes.c_ubyte(0)
    card.cuda.cudaMemcpy(ctypes.byref(value), flag, ctypes.c_size_t(1), 2)
    return value.value == 0

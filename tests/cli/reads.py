# SPDX-License-Identifier: MIT
"""A program that reads back what it wrote to the card, and then what it did not."""
import ctypes

cuda = ctypes.CDLL("libcudart.so.13")
memory, value = ctypes.c_void_p(), ctypes.c_long(41)
cuda.cudaMalloc(ctypes.byref(memory), 64)
cuda.cudaMemcpy(memory, ctypes.byref(value), 8, 1)
value.value = 0
cuda.cudaMemcpy(ctypes.byref(value), memory, 8, 2)
print(value.value + 1)


def look():
    cuda.cudaMemcpy(ctypes.byref(value), ctypes.c_void_p(memory.value + 8), 8, 2)
    print(value.value)


look()

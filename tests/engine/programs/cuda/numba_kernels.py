# SPDX-License-Identifier: MIT
"""Kernels, pinned and managed memory with Numba."""
import numpy as np
from numba import cuda


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


free, total = cuda.current_context().get_memory_info()
n = 1 << 20
a, b = cuda.to_device(np.ones(n, np.float32)), cuda.to_device(np.ones(n, np.float32))
c = cuda.device_array(n, np.float32)
add[(n + 255) // 256, 256](a, b, c)
cuda.synchronize()
pinned, managed = cuda.pinned_array(n, np.float32), cuda.managed_array(n, np.float32)
now, _ = cuda.current_context().get_memory_info()
print("taken:", free - now >= 3 * 4 * n, c.copy_to_host().shape[0], pinned.size, managed.size)

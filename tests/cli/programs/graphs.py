# SPDX-License-Identifier: MIT
"""A loop that launches a graph of twelve kernels and never waits for the card, as XLA does."""
import ctypes
import time

import card

cuda, one = card.cuda, card.Dim3(1, 1, 1)
stream, graph, launchable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
card.alloc(100)
stubs = [card.register(kernel) for kernel in range(12)]
errors = [cuda.cudaStreamCreate(ctypes.byref(stream)), cuda.cudaStreamBeginCapture(stream, 0)]
errors += [cuda.cudaLaunchKernel(stub, one, one, None, ctypes.c_size_t(0), stream) for stub in stubs]
errors += [cuda.cudaStreamEndCapture(stream, ctypes.byref(graph)),
           cuda.cudaGraphInstantiate(ctypes.byref(launchable), graph, ctypes.c_ulonglong(0))]
while not any(errors):
    errors = [cuda.cudaGraphLaunch(launchable, stream)]
    time.sleep(0.01)
raise SystemExit(f"errors {errors}")

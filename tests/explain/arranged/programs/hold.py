# SPDX-License-Identifier: MIT
"""Hold memory of the card until the end, as another program does: hold.py MIB READY. The file READY says that it is held."""
import ctypes
import signal
import sys

cuda = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
for status in (cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context),
               cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(int(sys.argv[1]) << 20))):
    if status:
        sys.exit(f"CUDA error {status}")
open(sys.argv[2], "w", encoding="ascii").close()
signal.pause()

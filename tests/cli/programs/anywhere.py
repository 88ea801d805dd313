# SPDX-License-Identifier: MIT
"""A program that looks functions of the runtime up among all libraries, as TensorFlow does: it gets those of CUDA 12."""
import ctypes

everything = ctypes.CDLL(None)
properties, version = ctypes.create_string_buffer(1032), ctypes.c_int()
print(everything.cudaGetDeviceProperties_v2(properties, 0), properties.value.decode())
everything.cudaRuntimeGetVersion(ctypes.byref(version))
print("runtime", version.value // 1000)

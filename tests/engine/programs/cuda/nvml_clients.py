# SPDX-License-Identifier: MIT
"""What nvidia-ml-py, gpustat and nvitop say of a card that a program of this rehearsal holds memory on."""
import ctypes
import subprocess
import sys

import pynvml

driver = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_ulonglong()
assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0 and driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 30)) == 0
pynvml.nvmlInit()
card = pynvml.nvmlDeviceGetHandleByIndex(0)
used = pynvml.nvmlDeviceGetMemoryInfo(card).used
name = pynvml.nvmlDeviceGetName(card)
told = [subprocess.run([sys.executable, "-m", *module], check=True, capture_output=True, text=True).stdout
        for module in (["gpustat", "--no-color"], ["nvitop", "-1", "--no-unicode"])]
print("clients:", used > 1 << 30, all("4090" in text for text in (name, *told)))

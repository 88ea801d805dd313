# SPDX-License-Identifier: MIT
"""Loads the driver by the path of its file, as some programs do, and looks for the files of a real GPU."""
import ctypes
import os
import shutil
import tempfile

import card

with open("/proc/self/maps", encoding="utf-8") as maps:
    ours = next(line.split()[-1] for line in maps if "libcuda.so.1" in line)
with tempfile.TemporaryDirectory() as folder:
    copy = os.path.join(folder, "libcuda.so.550.54.14")  # not the name that is stood in for
    shutil.copy(ours, copy)
    ctypes.CDLL(copy)
try:
    open("/dev/nvidiactl", "rb").close()
    print("reached")
except OSError as error:
    print(error.strerror)
print("devices:", *(os.path.exists("/dev/nvidia" + name) for name in ("0", "ctl", "-uvm", "7", "")))
print("readable:", os.access("/dev/nvidia0", os.R_OK | os.W_OK), os.access("/dev/nvidia7", os.R_OK))
card.wait()
driver = ctypes.CDLL("libcuda.so.1")
table = ctypes.c_void_p()
print(driver.cuGetExportTable(ctypes.byref(table), None))

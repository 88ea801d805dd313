#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A library that a program opens by path is the virtual one if it has its name; any other is the file at the path.

    reopen.py VGPU_FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """
import ctypes, sys
for name in sys.argv[1:]:
    ctypes.CDLL(name)
print("".join(open("/proc/self/maps")))
"""


def main():
    ours = pathlib.Path(sys.argv[1])
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        real, other = pathlib.Path(folder, "libcublas.so.13"), pathlib.Path(folder, "libother.so.1")
        for copy in real, other:
            shutil.copy(ours / "libcudnn.so.9", copy)  # any library will do
        preloaded = ["libplimsoll-preload.so", "libcuda.so.1", "libcublas.so.13"]
        environment = dict(os.environ, LD_PRELOAD=":".join(str(ours / name) for name in preloaded),
                           LD_LIBRARY_PATH=str(ours))
        result = subprocess.run([sys.executable, "-c", PROGRAM, str(real), str(other), "libcurand.so.10"], text=True,
                                env=environment, capture_output=True, check=False, timeout=60)
        for name, is_mapped in {str(real): False, str(other): True, str(ours / "libcublas.so.13"): True,
                                str(ours / "libcurand.so.10"): True}.items():
            if (name in result.stdout) != is_mapped:
                failures.append(f"{name} is {'not ' if is_mapped else ''}mapped")
    print("\n".join(failures + [result.stderr]))
    return 1 if failures or result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())

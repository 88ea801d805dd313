#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The names that programs import from NVIDIA's libraries, and whether the virtual ones export them: a program with a missing
name does not start. imports/ lists the names by program; each line is a library, a name and its version.

    imports.py check VGPU_FOLDER LIST...     every name of the lists is exported by the library, in that version
    imports.py list FOLDER                   the list for the shared objects below a folder
"""
import pathlib
import re
import subprocess
import sys

# Which library an unversioned name belongs to.
UNVERSIONED = {
    r"cusparseLt[A-Z]": "libcusparseLt.so.0",
    r"nccl[A-Z]": "libnccl.so.2",
    r"cuFile[A-Z]": "libcufile.so.0",
    r"nvml[A-Z]": "libnvidia-ml.so.1",
    r"cu[A-Z]": "libcuda.so.1",
}
VERSIONED = {"NVSHMEM": "libnvshmem_host.so.3"}
OURS = re.compile(r"lib(cu(blas|blasLt|dart|dnn|fft|file|pti|rand|solver|sparse|sparseLt|da)|nccl|nvshmem_host)\.so\.\d+(\.\d+)?$")


def symbols(library, which):
    """The names of a shared object with their versions ("" for none)."""
    listing = subprocess.run(["nm", "-D", which, library], capture_output=True, text=True, check=False).stdout
    for line in listing.splitlines():
        name, _, version = line.split()[-1].partition("@")
        yield name, version.lstrip("@")


def wanted(folder):
    found = set()
    for library in sorted(pathlib.Path(folder).rglob("*.so*")):
        for name, version in symbols(library, "--undefined-only"):
            owner = VERSIONED.get(version, version) or next(
                (owner for start, owner in UNVERSIONED.items() if re.match(start, name)), "")
            if OURS.match(owner):
                found.add(f"{owner} {name} {version or '-'}")
    return sorted(found)


def check(folder, lists):
    exported, missing, n = {}, [], 0
    for path in lists:
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                continue
            owner, name, version = line.split()
            if owner not in exported:
                library = pathlib.Path(folder) / owner
                exported[owner] = dict(symbols(library, "--defined-only")) if library.exists() else {}
            n += 1
            if exported[owner].get(name) != version.replace("-", ""):
                missing.append(f"{pathlib.Path(path).name}: {line}")
    print("\n".join(missing + [f"{n - len(missing)} of {n} names are there"]))
    return 1 if missing or not n else 0


if __name__ == "__main__":
    if sys.argv[1] == "list":
        print("\n".join(wanted(sys.argv[2])))
    else:
        sys.exit(check(sys.argv[2], sys.argv[3:]))

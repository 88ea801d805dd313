#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
List the kernels that have no meaning in src/vgpu/kernels, whose results are guesses therefore: those that a program
launches, or those that libraries hold.

    kernels.py [--plimsoll build/src/plimsoll] [--card NAME] [--all] -- COMMAND...
    kernels.py [--all] --libraries FILE.so...

With a command, it is rehearsed, and the list is what its processes launched (PLIM_VGPU_KERNELS); what was read of their
results stands in the receipt, which is printed before. With libraries, a kernel counts as known if its name is that of a
form: the form may refuse some of its types. Kernels of one name are one line: how many instances, the name, the longest
instance's arguments shortened. Most instances first; --all: those with a meaning, too.
"""
import argparse
import collections
import os
import re
import struct
import subprocess
import sys
import tempfile

SOURCES = os.path.join(os.path.dirname(__file__), "..", "src", "vgpu", "kernels")
FORM = re.compile(r'struct plim_kernel_form \w+ =\s*\{\s*"([^"]+)"|^    \{ "([^"]+)", parse\w*, run\w* \}', re.M)
MANGLED = re.compile(rb"_Z[A-Za-z0-9_.$]{6,}")


def form_names():
    """The names of forms, as src/vgpu/kernels spells them."""
    names = set()
    for folder, _, files in os.walk(SOURCES):
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                names.update(first or second for first, second in FORM.findall(file.read()))
    return {name for name in names if name}


def function_of(name):
    """void at::native::roll_cuda_kernel<float>(float const*, ...) -> at::native::roll_cuda_kernel"""
    name = name.replace("(anonymous namespace)", "{anonymous}")
    cut = re.search(r"[<(]", name)
    name = (name[: cut.start()] if cut else name).split(" ")[-1]
    return name.replace("{anonymous}", "(anonymous namespace)")


def has_form(function, forms):
    return any(function == form or function.endswith("::" + form) for form in forms)


def launched(arguments):
    """(form or "none", name) of each distinct kernel that a rehearsed command launched."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernels")
        command = [arguments.plimsoll, "rehearse", "--card", arguments.card, "--until", "exit", "--", *arguments.command]
        status = subprocess.run(command, env={**os.environ, "PLIM_VGPU_KERNELS": path}, check=False).returncode
        if not os.path.exists(path):
            sys.exit(f"kernels.py: no kernel was launched (exit status {status})")
        with open(path, encoding="utf-8", errors="replace") as file:
            return {tuple(line.rstrip("\n").split("\t", 1)) for line in file if "\t" in line}


def read_only_data(path):
    """The bytes of the section .rodata: the names with which kernels are registered are there."""
    with open(path, "rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            sys.exit(f"kernels.py: {path}: not a 64-bit ELF file")
        start, = struct.unpack_from("<Q", header, 40)
        size, n, names_at = struct.unpack_from("<HHH", header, 58)
        sections = []
        for i in range(n):
            file.seek(start + i * size)
            sections.append(struct.unpack("<IIQQQQIIQQ", file.read(64)))
        file.seek(sections[names_at][4])
        names = file.read(sections[names_at][5])
        for section in sections:
            if names[section[0] :].split(b"\0", 1)[0] == b".rodata":
                file.seek(section[4])
                return file.read(section[5])
    return b""


def held(paths):
    """The same of each kernel whose name is in a library."""
    forms = form_names()
    mangled = sorted({name for path in paths for name in MANGLED.findall(read_only_data(path))})
    shown = subprocess.run(["c++filt"], input=b"\n".join(mangled), stdout=subprocess.PIPE, check=True).stdout
    names = {name for name in shown.decode(errors="replace").splitlines() if "(" in name}
    return {("form" if has_form(function_of(name), forms) else "none", name) for name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plimsoll", default="build/src/plimsoll")
    parser.add_argument("--card", default="RTX 4090")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--libraries", nargs="+", metavar="FILE")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    arguments = parser.parse_args()
    if bool(arguments.libraries) == bool(arguments.command):
        parser.error("give a command, or --libraries")
    kernels = held(arguments.libraries) if arguments.libraries else launched(arguments)
    groups = collections.defaultdict(list)
    for form, name in kernels:
        if form == "none" or arguments.all:
            groups[(form, function_of(name))].append(name)
    n_known = sum(form != "none" for form, _ in kernels)
    print(f"{len(kernels)} kernels, {n_known} of them with a meaning")
    for (form, function), names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"{len(names):6}  {function}{'' if form == 'none' else '   [has a form]'}")
        print(f"        {max(names, key=len)[:160]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

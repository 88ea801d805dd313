#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
portable.py ZIG BUILD WORK: compile what needs neither Linux nor a GPU for other systems, file by file, with `zig cc`.

ZIG is the command ("python -m ziglang"), BUILD a folder that Meson built (its generated tables are compiled, too), WORK
a folder for the objects. The headers of jansson and PCRE2 are those that the compiler of this machine finds: they hold
nothing that differs between systems. Nothing is linked: that needs the two libraries for each system.
"""
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

# The files of base/system.h for each system; src/meson.build makes the same choice.
SYSTEMS = {
    "wasm32-wasi": {"system_posix.c", "system_wasi.c"},
    "x86_64-windows-gnu": {"system_windows.c"},
    "aarch64-macos": {"system_posix.c", "system_unix.c"},
}
FOLDERS = ["base", "source", "step", "model", "card", "bill", "receipt", "engine", "trace", "diagnose", "plan", "watch", "emit", "report", "cli"]
# The commands that need Linux: a virtual GPU to load into programs, files that are written sparse or not at all, and the
# processes of this machine, their users and signals, and a terminal.
# And sessions with servers, for which other systems have source/remote/absent.c.
LINUX_ONLY = {"src/cli/main.c", "src/cli/recorded.c", "src/cli/trace/record.c", "src/cli/sweep.c", "src/cli/answer_file.c", "src/cli/hollow.c",
              "src/emit/hollow_own.c", "src/emit/hollow_plan.c", "src/emit/hollow_write.c", "src/emit/hollow_python.c",
              "src/cli/libraries.c", "src/step/save.c",
              *(f"src/source/remote/{name}.c" for name in ("cache", "curl", "file", "hub", "request", "session"))}
LINUX_FOLDERS = ("src/cli/rehearse/", "src/cli/watch/", "src/cli/top/", "src/report/watch/", "src/report/top/", "src/watch/ending/",
                 "src/watch/state.c")
HEADERS = ["jansson.h", "jansson_config.h", "pcre2.h", "zlib.h", "zconf.h"]
FLAGS = ["-std=c11", "-O1", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-overlength-strings", "-DPLIM_VGPU_FOLDER=\"\""]


def copy_headers(folder):
    """The headers the compiler of this machine finds, and no others of its system."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = "".join(f"#include <{name}>\n" for name in HEADERS)
    listed = subprocess.run(["cc", "-M", "-DPCRE2_CODE_UNIT_WIDTH=8", "-x", "c", "-"], input=asked, stdout=subprocess.PIPE,
                            check=True, text=True)
    for path in listed.stdout.replace("\\\n", " ").split():
        if os.path.basename(path) in HEADERS:
            shutil.copy(path, folder)


def sources(target, build):
    found = sorted(str(path) for folder in FOLDERS for path in pathlib.Path("src", folder).rglob("*.c"))
    found = [path for path in found if path not in LINUX_ONLY and not path.startswith(LINUX_FOLDERS)]
    others = set().union(*SYSTEMS.values()) - SYSTEMS[target]
    return [path for path in found if os.path.basename(path) not in others] + sorted(map(str, build.glob("data/*_table.c")))


def compile_one(zig, target, source, work):
    compiled = work / target / (source.replace("/", "_") + ".o")
    command = [*zig, "cc", "-target", target, *FLAGS, "-Iinclude", "-Isrc", "-isystem", str(work / "include"),
               "-c", source, "-o", str(compiled)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    return None if done.returncode == 0 else f"{target}: {source}\n{done.stdout}"


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: portable.py ZIG BUILD WORK")
    zig, build, work = shlex.split(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    copy_headers(work / "include")
    n_failed = 0
    for target in SYSTEMS:
        (work / target).mkdir(parents=True, exist_ok=True)
        files = sources(target, build)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(filter(None, pool.map(lambda source: compile_one(zig, target, source, work), files)))
        print("".join(found) + f"{target}: {len(files) - len(found)} of {len(files)} files compiled", flush=True)
        n_failed += len(found)
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())

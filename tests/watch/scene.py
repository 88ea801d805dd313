#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
scene.py FILE.scene FOLDER: make the machine that a scene describes: FOLDER/root is a tree of /proc, /sys and more for
`--sysroot`, and FOLDER/nvml says how the NVML of nvml_scene.c answers (NVML_SCENE).
scene.py --all SCENES FOLDER: each *.scene in the folder SCENES in a folder of its own; prints their names.

A scene is text. "#" begins a comment line. Sizes are "5 GiB", "300 MiB" or bytes, times are seconds.

  source: WHERE THE FACTS ARE FROM      one line, obligatory
  @file PATH                            the lines up to the next "@" are the file's
  @text PATH LINE                       a file of one line
  @link PATH -> TARGET
  @dir PATH
  @denied PATH                          cannot be read, by root either
  @uptime SECONDS                       864000 unless it is said
  @user NAME UID
  @contained                            whoever looks is in a container
  @process PID                          then "KEY = VALUE" lines, all optional:
      args = a command line, quoted as for a shell      program = PATH    name = as it calls itself    folder = PATH
      parent = PID   state = S   uid = 1000   age = SECONDS   cpu = SECONDS   rss = SIZE   nspid = PIDS   session = PID
      group = PID   terminal = NUMBER   cgroup = LINE (again for more)   fd N = TARGET   map = PATH
      fdinfo N = KEY: VALUE; ... of /dev/dri/renderD128, unless "fd N" says another
  @nvml                                 the lines up to the next "@", with sizes in bytes: see nvml_scene.c
  @expect                               the sample of this machine, as tests/unit/test_sampler.c writes it
"""
import os
import re
import shlex
import shutil
import sys

TICKS_PER_S = 100
PAGE_BYTES = 4096
SIZE = re.compile(r"\b(\d+(?:\.\d+)?) (KiB|MiB|GiB)\b")
UNIT = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def in_bytes(text):
    return SIZE.sub(lambda found: str(int(float(found[1]) * UNIT[found[2]])), text)


class Tree:
    def __init__(self, root):
        self.root = root
        os.makedirs(root, exist_ok=True)

    def place(self, path):
        full = os.path.normpath(self.root + "/" + path)
        if not full.startswith(os.path.normpath(self.root)):
            raise ValueError(f"{path} leads out of the tree")
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return full

    def file(self, path, text):
        with open(self.place(path), "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())

    def link(self, path, target):
        full = self.place(path)
        if os.path.islink(full):
            os.unlink(full)
        elif os.path.isdir(full):
            shutil.rmtree(full)
        os.symlink(target, full)

    def folder(self, path):
        os.makedirs(self.place(path), exist_ok=True)


def make_process(tree, pid, lines, uptime_s):
    one, many = {}, []
    for line in lines:
        key, _, value = line.partition("=")
        key, value = key.strip(), value.strip()
        one[key] = value
        many.append((key, value))
    args = shlex.split(one.get("args", ""))
    program = one.get("program", "")
    name = one.get("name") or os.path.basename(program or (args[0] if args else "process"))
    name = name[:15]
    folder, state, parent, uid = f"/proc/{pid}", one.get("state", "S"), int(one.get("parent", 1)), one.get("uid", "0")
    start = int((uptime_s - float(one.get("age", 60))) * TICKS_PER_S)
    cpu, rss = int(float(one.get("cpu", 0)) * TICKS_PER_S), int(in_bytes(one.get("rss", "0")))
    pids = one.get("nspid", str(pid)).split()
    fields = [state, parent, int(one.get("group", pid)), int(one.get("session", pid)), int(one.get("terminal", 0)), -1, 4194304, 0, 0, 0, 0]
    fields += [cpu, 0, 0, 0, 20, 0, 1, 0, start, rss * 2, rss // PAGE_BYTES] + [0] * 28
    tree.file(f"{folder}/stat", f"{pid} ({name}) " + " ".join(map(str, fields)) + "\n")
    tree.file(f"{folder}/comm", name + "\n")
    tree.file(
        f"{folder}/status",
        f"Name:\t{name}\nState:\t{state}\nTgid:\t{pid}\nPid:\t{pid}\nPPid:\t{parent}\n"
        f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\nNSpid:\t" + "\t".join(pids) + f"\nVmRSS:\t{rss >> 10} kB\n",
    )
    tree.file(f"{folder}/cmdline", b"".join(word.encode() + b"\0" for word in args))
    tree.file(f"{folder}/cgroup", "".join(value + "\n" for key, value in many if key == "cgroup") or "0::/\n")
    tree.folder(f"{folder}/fd")
    if program:
        tree.link(f"{folder}/exe", program)
    if "folder" in one:
        tree.link(f"{folder}/cwd", one["folder"])
    maps = ""
    for number, (key, value) in enumerate(many):
        if key.startswith("fd "):
            tree.link(f"{folder}/fd/{key[3:]}", value)
        elif key.startswith("fdinfo "):
            rows = "".join(row.strip() + "\n" for row in value.split(";"))
            tree.file(f"{folder}/fdinfo/{key[7:]}", "pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t420\n" + rows)
            tree.link(f"{folder}/fd/{key[7:]}", one.get("fd " + key[7:], "/dev/dri/renderD128"))
        elif key == "map":
            maps += f"7f{number:06x}0000-7f{number:06x}8000 r--s 00000000 fd:01 {number + 1000}   {value}\n"
    tree.file(f"{folder}/maps", maps)


def blocks(text):
    """(the words of an "@" line, its lines) for each."""
    found = []
    for line in text.splitlines():
        if line.startswith("@"):
            found.append((line[1:], []))
        elif found:
            found[-1][1].append(line)
    return found


def without_comments(lines):
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def make(path, folder):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not re.search(r"^source: \S", text, re.MULTILINE):
        raise ValueError(f"{path}: a scene says where it is from: source: ...")
    all_blocks = blocks(text)
    said = {head.split()[0]: head.split()[1:] for head, _ in all_blocks}
    uptime_s = float(said.get("uptime", ["864000"])[0])
    tree = Tree(folder + "/root")
    tree.file("/proc/uptime", f"{uptime_s:.2f} 0.00\n")
    tree.link("/proc/self/ns/pid", "pid:[4026532501]" if "contained" in said else "pid:[4026531836]")
    users, nvml, expect = "root:x:0:0:root:/root:/bin/bash\n", "", ""
    for head, lines in all_blocks:
        kind, _, rest = head.partition(" ")
        if kind == "process":
            make_process(tree, int(rest), without_comments(lines), uptime_s)
        elif kind == "file":
            tree.file(rest, "".join(line + "\n" for line in lines))
        elif kind == "text":
            name, _, content = rest.partition(" ")
            tree.file(name, content + "\n")
        elif kind == "link":
            name, _, target = rest.partition(" -> ")
            tree.link(name, target)
        elif kind == "dir":
            tree.folder(rest)
        elif kind == "denied":
            tree.link(rest, os.path.basename(rest))  # a link to itself
        elif kind == "user":
            name, uid = rest.split()
            users += f"{name}:x:{uid}:{uid}::/home/{name}:/bin/bash\n"
        elif kind == "nvml":
            nvml += "".join(in_bytes(line.strip()) + "\n" for line in without_comments(lines))
        elif kind == "expect":
            expect += "".join(line + "\n" for line in without_comments(lines))
        elif kind not in ("uptime", "contained"):
            raise ValueError(f"@{kind} is no block of a scene")
    tree.file("/etc/passwd", users)
    for name, content in (("nvml", nvml), ("expect", expect)):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as out:
            out.write(content)


def make_all(scenes, folder):
    shutil.rmtree(folder, ignore_errors=True)
    for name in sorted(os.listdir(scenes)):
        if name.endswith(".scene"):
            make(os.path.join(scenes, name), os.path.join(folder, name[: -len(".scene")]))
            print(name[: -len(".scene")])


def main():
    arguments = sys.argv[1:]
    try:
        if len(arguments) == 3 and arguments[0] == "--all":
            make_all(*arguments[1:])
        elif len(arguments) == 2:
            make(*arguments)
        else:
            sys.exit("usage: scene.py FILE.scene FOLDER | scene.py --all SCENES FOLDER")
    except (OSError, ValueError) as error:
        sys.exit(f"{arguments[-2]}: {error}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""A host with little memory: a control group, where this machine lets us make one (version 1 or 2, as root)."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

FOLDERS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))
ENTER = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


@contextlib.contextmanager
def of_gib(gib: float) -> Iterator[list[str]]:
    """What to put in front of a command; nothing where no control group can be made, or where gib is 0."""
    for parent, limit in FOLDERS if gib else ():
        group = os.path.join(parent, f"programs-{os.getpid()}")
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            with open(os.path.join(group, limit), "w", encoding="ascii") as file:
                file.write(str(int(gib * 2**30)))
        except OSError:  # its parent has no control of memory
            os.rmdir(group)
            continue
        try:
            yield ["sh", "-c", ENTER, group]
        finally:
            os.rmdir(group)
        return
    yield []

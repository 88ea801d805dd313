#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Runs programs of the files here (FILES of record.py), each in a process of its own, with the history of allocations recorded.

    run.py OUT NAME...

OUT/NAME.pickle is the snapshot with what PyTorch says of each turn. PyTorch is imported once.
"""
import os
import pickle
import sys
import traceback

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import apart  # noqa: E402, F401
import clean  # noqa: E402, F401
import faulty  # noqa: E402, F401
import later  # noqa: E402, F401
import parts  # noqa: E402
import plain  # noqa: E402, F401
import planted  # noqa: E402, F401
import second  # noqa: E402, F401
import varied  # noqa: E402, F401


def dump(name: str, path: str) -> None:
    with open(path, "wb") as file:
        pickle.dump({"snapshot": torch.cuda.memory._snapshot(), "stats": torch.cuda.memory_stats(), "notes": parts.NOTES,
                     "fault": parts.PROGRAMS[name][0], "room": torch.cuda.mem_get_info(), "torch": str(torch.__version__)}, file)


def run(name: str, path: str) -> None:
    program = parts.PROGRAMS[name][1]

    def at_end(frame, event: str, _) -> None:
        """The names of the program still hold what they held."""
        if event == "return" and frame.f_code is program.__code__:
            sys.setprofile(None)
            dump(name, path)

    torch.manual_seed(0)
    torch.empty(1, device="cuda")
    torch.cuda.empty_cache()
    torch.cuda.memory._record_memory_history(stacks="python")
    sys.setprofile(at_end)
    program()


def main() -> int:
    folder, names = sys.argv[1], sys.argv[2:] or list(parts.PROGRAMS)
    failed = 0
    for name in names:
        child = os.fork()
        if child == 0:
            try:
                run(name, os.path.join(folder, name + ".pickle"))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        failed += os.waitpid(child, 0)[1] != 0
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

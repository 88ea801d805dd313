# SPDX-License-Identifier: MIT
"""
Run a program of this folder many times with its imports done once: torch and transformers take longer to load than a
checkpoint to lay out or to convert.

    serve.py PROGRAM [ARGUMENT...]    each line of stdin is a JSON list of further arguments: a run in a process of its own;
                                      each answer is a JSON list [exit status, last line of its standard error]
"""
from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import traceback


def run(module, arguments: list[str], log: int) -> None:
    os.dup2(log, 2)
    os.dup2(log, 1)
    sys.argv = [module.__file__, *arguments]
    try:
        status = module.main()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)


def main() -> None:
    program, *fixed = sys.argv[1:]
    sys.argv = [program, *fixed]
    module = importlib.import_module(program)
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            child = os.fork()
            if child == 0:
                run(module, [*fixed, *json.loads(line)], log.fileno())
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            log.seek(0)
            lines = log.read().strip().splitlines() or ["?"]
        print(json.dumps([status, lines[-1]]), flush=True)


if __name__ == "__main__":
    main()

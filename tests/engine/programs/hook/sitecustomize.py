# SPDX-License-Identifier: MIT
"""
Python itself loads this into every process of a rehearsed program, which stays as it is. When a process ends it tells
what PyTorch has reserved, as cases/told.py of the torch suite does: now, and at most. $PLIM_TEST_TELL is the file it writes to.
"""
import atexit
import json
import os
import sys


def tell() -> None:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return
    visible, reserved = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(","), {}
    for device in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(device)
        reserved[visible[device] if all(visible) else device] = [stats.get(f"reserved_bytes.all.{when}", 0) for when in ("current", "peak")]
    line = "\ntold: " + json.dumps({"pid": os.getpid(), "reserved": reserved}) + "\n"
    file = os.open(os.environ["PLIM_TEST_TELL"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, line.encode())  # at once: ranks write to the same file


if "PLIM_TEST_TELL" in os.environ:
    atexit.register(tell)
if "PLIM_TEST_OPERATORS" in os.environ:
    import recorder

    recorder.record_when_torch_is_loaded(os.environ["PLIM_TEST_OPERATORS"])

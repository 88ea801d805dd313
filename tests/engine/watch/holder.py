# SPDX-License-Identifier: MIT
"""
A PyTorch program that holds memory on a card.

    holder.py --ready FILE --device cuda:N --mib MIB [--busy] [--grow MIB_PER_S --full FILE] [--headless] [--listen]

It writes its pid to FILE once it holds its memory. --busy: launches kernels all the time. --grow: takes more, by the
clock, until the card is full; then it writes when that was, by the same clock, in seconds since 1970. --headless: its first
thread ends, and another one goes on. --listen: it accepts connections, as a server does.
"""
from __future__ import annotations

import argparse
import ctypes
import os
import socket
import threading
import time

import torch

MIB = 1 << 20
CHUNK_MIB = 10  # PyTorch's allocator asks the driver for each of them: smaller ones are cut from larger blocks
SYS_EXIT = {"x86_64": 60, "aarch64": 93}


def take(mib: int, device: str) -> torch.Tensor:
    return torch.empty(mib * MIB, dtype=torch.uint8, device=device)  # launches nothing


def tell(path: str, number: float) -> None:
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(f"{number}\n")
    os.rename(path + ".new", path)


def grow(held: list[torch.Tensor], options: argparse.Namespace) -> None:
    """One chunk each time it is due: a machine that is late does not change when the card ought to be full."""
    start, n = time.time(), 0
    while True:
        n += 1
        due = start + n * CHUNK_MIB / options.grow
        time.sleep(max(0, due - time.time()))
        try:
            held.append(take(CHUNK_MIB, options.device))
        except torch.cuda.OutOfMemoryError:
            tell(options.full, due)
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ready", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--mib", type=int, required=True)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--grow", type=int, default=0)
    parser.add_argument("--full", default="")
    parser.add_argument("--headless", action="store_true")
    parser.add_argument("--listen", action="store_true")
    options = parser.parse_args()

    server = socket.create_server(("127.0.0.1", 0)) if options.listen else None
    held = [take(options.mib, options.device)]
    number = torch.ones(1, device=options.device) if options.busy else None
    tell(options.ready, os.getpid())
    if options.headless:
        threading.Thread(target=time.sleep, args=(3600,)).start()
        ctypes.CDLL(None).syscall(SYS_EXIT[os.uname().machine], 0)
    if options.grow:
        grow(held, options)
    while server:
        server.accept()
    while True:
        if options.busy:
            number.add_(1)
        time.sleep(0.005 if options.busy else 0.05)


main()

# SPDX-License-Identifier: MIT
"""Map positions of a genome in a table in anonymous memory, shared with forked searchers."""
import argparse
import mmap
import os
import struct
import sys


def search(table, slots, first, last):
    found = 0
    for position in range(first, last):
        slot = position * 2654435761 % slots
        found += struct.unpack_from("<I", table, slot * 4)[0] == position
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million-slots", type=int, default=64)
    parser.add_argument("--positions", type=int, default=100_000)
    args = parser.parse_args()
    slots = args.million_slots * 10**6
    print(f"table: {slots} slots, {slots * 4 / 10**9:.2f} GB", file=sys.stderr)
    table = mmap.mmap(-1, slots * 4)
    for position in range(args.positions):
        struct.pack_into("<I", table, position * 2654435761 % slots * 4, position)
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os._exit(search(table, slots, 0, args.positions // 2) == 0)
    found = search(table, slots, args.positions // 2, args.positions)
    _, status = os.waitpid(child, 0)
    print(f"{found} of {args.positions - args.positions // 2} positions found, searcher ended with {status}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Open a store of log segments: the header of each goes to a mapped buffer of its own, as the search of the archive expects it."""
import argparse
import logging
import mmap
import os

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname).1s %(message)s")


def figures():
    with open("/proc/self/statm", encoding="ascii") as file:
        size, resident = (int(text) * mmap.PAGESIZE >> 20 for text in file.read().split()[:2])
    return f"size {size} MiB, resident {resident} MiB, available {os.sysconf('SC_AVPHYS_PAGES') * mmap.PAGESIZE >> 20} MiB"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--segments", type=int, default=50000)
    parser.add_argument("--pages", type=int, default=4)
    args = parser.parse_args()
    with open("/proc/sys/vm/max_map_count", encoding="ascii") as file:
        logging.info("store of %d segments of %d KiB; vm.max_map_count = %s", args.segments, args.pages * 4, file.read().strip())
    length = args.pages * mmap.PAGESIZE
    with open("segments.db", "wb") as file:
        file.truncate(length * 64)
    maps = []
    with open("segments.db", "r+b") as file:
        for number in range(args.segments):
            file.seek(number % 64 * length)
            maps.append(mmap.mmap(-1, length))
            maps[-1].write(file.read(64))
            if number % 10000 == 9999:
                logging.info("%d segments mapped; %s", number + 1, figures())
    logging.info("store open; %s", figures())


if __name__ == "__main__":
    main()

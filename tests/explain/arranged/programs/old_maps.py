# SPDX-License-Identifier: MIT
"""Make previews of scanned cadastral maps and report the memory that each took."""
import argparse
import pathlib
import struct
import time
import zlib

import psutil
from loguru import logger
from PIL import Image


def write_scan(path, width, height):
    """A one-colour grey PNG of the size of the scan."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(1)
    row = b"\0" + b"\xc8" * width
    pixels = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sides", type=int, nargs="+", default=[4000, 8000])
    args = parser.parse_args()
    for number, side in enumerate(args.sides):
        write_scan(pathlib.Path(f"sheet_{number:02d}.png"), side, side * 4 // 5)
    memory = psutil.virtual_memory()
    logger.info("{:.1f} GiB of {:.1f} GiB available", memory.available / 2**30, memory.total / 2**30)
    for path in sorted(pathlib.Path().glob("sheet_*.png")):
        start = time.perf_counter()
        with Image.open(path) as scan:
            size = scan.size
            scan.thumbnail((1024, 1024))
            scan.save(path.with_suffix(".jpg"))
        logger.info("{}: {} x {}, {:.1f} s, rss {} MiB", path, *size, time.perf_counter() - start, psutil.Process().memory_info().rss >> 20)
    logger.success("{} previews", len(args.sides))


if __name__ == "__main__":
    main()

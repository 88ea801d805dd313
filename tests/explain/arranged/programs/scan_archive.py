# SPDX-License-Identifier: MIT
"""Unpack the scans of an archive into the working folder and check their sums."""
import argparse
import hashlib
import os
import random
import shutil


def figures(folder):
    usage = shutil.disk_usage(folder)
    with open("/proc/meminfo", encoding="ascii") as file:
        meminfo = dict(line.split(":") for line in file)
    memory = int(meminfo["MemAvailable"].split()[0]) >> 10
    return f"disk {usage.used >> 20}/{usage.total >> 20} MiB used, memory {memory} MiB available"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--scans", type=int, default=40)
    parser.add_argument("--mib", type=int, default=4)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    rng = random.Random(1)
    for number in range(args.scans):
        if number % 8 == 0:
            print(f"scan {number}/{args.scans}: {figures(args.folder)}", flush=True)
        scan = rng.randbytes(args.mib << 20)
        path = os.path.join(args.folder, f"scan-{number:05d}.tif")
        with open(path, "wb") as file:
            file.write(scan)
        with open(path, "rb") as file:
            if hashlib.file_digest(file, "sha256").digest() != hashlib.sha256(scan).digest():
                raise SystemExit(f"{path} is damaged")
    print(f"{args.scans} scans are good, {figures(args.folder)}")


if __name__ == "__main__":
    main()

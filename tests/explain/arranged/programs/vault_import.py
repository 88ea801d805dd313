# SPDX-License-Identifier: MIT
"""Import the passwords of a club's members into the new vault: each is hashed with scrypt."""
import argparse
import hashlib
import json
import resource
import secrets


def event(**fields):
    print(json.dumps(fields), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=12)
    parser.add_argument("--cost", type=int, default=14, help="binary logarithm of N")
    parser.add_argument("--block", type=int, default=8)
    args = parser.parse_args()
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(line for line in file if line.startswith("MemAvailable")).split()[1]
    event(event="start", members=args.members, n=2 ** args.cost, r=args.block, available_mib=int(available) >> 10)
    for member in range(args.members):
        cost = args.cost if member > args.members // 2 else 14
        key = hashlib.scrypt(secrets.token_bytes(12), salt=secrets.token_bytes(16), n=2 ** cost, r=args.block, p=1, maxmem=48 << 20)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        event(event="hashed", member=member, key=key.hex()[:12], peak_rss_mib=peak)
    event(event="done")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Read a mailbox in chunks, keep threads that are still open, and print a digest of the longest."""
import argparse
import collections
import hashlib


def messages(count, size):
    for number in range(count):
        thread = int.from_bytes(hashlib.blake2b(str(number).encode(), digest_size=3).digest(), "big") % (count // 6 + 1)
        yield thread, (f"Message {number} of thread {thread}. ".encode() * (size // 24))[:size]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--size", type=int, default=8000)
    args = parser.parse_args()
    threads = collections.defaultdict(list)
    for number, (thread, text) in enumerate(messages(args.messages, args.size), 1):
        threads[thread].append(text)
        if number % 5000 == 0:
            print(f"mail: {number} messages in {len(threads)} threads", flush=True)
    for thread in sorted(threads, key=lambda name: -len(threads[name]))[:3]:
        print(f"mail: thread {thread} with {len(threads[thread])} messages, {sum(map(len, threads[thread]))} bytes")


if __name__ == "__main__":
    main()

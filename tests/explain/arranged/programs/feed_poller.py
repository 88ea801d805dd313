# SPDX-License-Identifier: MIT
"""Poll many news feeds at once, one thread for each, and print how many answered."""
import argparse
import resource
import threading
import time


def poll(number, answers, stop):
    stop.wait()
    answers[number] = number % 17 != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--feeds", type=int, default=300)
    parser.add_argument("--stack-kib", type=int, default=0)
    args = parser.parse_args()
    if args.stack_kib:
        threading.stack_size(args.stack_kib << 10)
    for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
        print(f"{name:14}", *("unlimited" if value < 0 else value for value in resource.getrlimit(getattr(resource, name))))
    answers, stop, threads = {}, threading.Event(), []
    try:
        for number in range(args.feeds):
            thread = threading.Thread(target=poll, args=(number, answers, stop), daemon=True)
            thread.start()
            threads.append(thread)
    finally:
        print(f"{len(threads)} of {args.feeds} pollers started", flush=True)
        stop.set()
        time.sleep(0.2)
    for thread in threads:
        thread.join()
    print(f"{sum(answers.values())} feeds answered")


if __name__ == "__main__":
    main()

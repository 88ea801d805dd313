# SPDX-License-Identifier: MIT
"""Watch a crawler: start it, report its memory, and stop it when it sends no heartbeat for some seconds."""
import argparse
import selectors
import subprocess
import sys
import time

CRAWLER = """
import sys, time
pages = int(sys.argv[1])
for number in range(1, pages + 1):
    time.sleep(0.02)
    print(number, flush=True)
    if number == pages * 2 // 3:
        time.sleep(float(sys.argv[2]))
"""


def rss(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--slow-host", type=float, default=0.1, help="seconds that the slowest host needs")
    parser.add_argument("--heartbeat", type=float, default=2.0)
    args = parser.parse_args()
    child = subprocess.Popen([sys.executable, "-c", CRAWLER, str(args.pages), str(args.slow_host)], stdout=subprocess.PIPE)
    selector = selectors.DefaultSelector()
    selector.register(child.stdout, selectors.EVENT_READ)
    seen, start = 0, time.monotonic()
    while selector.select(args.heartbeat):
        line = child.stdout.readline()
        if not line:
            break
        seen = int(line)
        if seen % 25 == 0:
            seconds = time.monotonic() - start
            print(f"crawler {child.pid}: {seen} pages, rss {rss(child.pid) / 2**20:.1f} MiB, {seconds:.1f} s", flush=True)
    else:
        print(f"crawler {child.pid}: no heartbeat for {args.heartbeat} s, killing it", flush=True)
        child.kill()
    status = child.wait()
    print(f"crawler {child.pid} exited with {status}, {seen} pages")
    if status:
        raise subprocess.CalledProcessError(status, "crawler")


if __name__ == "__main__":
    main()

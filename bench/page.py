#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The page of a long history: how long `plimsoll trace --html` writes it, how large it is, how long Chromium takes to open it,
and how long a frame takes while the page is moved and zoomed. Beside it the page of PyTorch's own memory_viz by its
size: it fetches its script from a server, so that it does not open without one.
"""
import argparse
import glob
import os
import pathlib
import statistics
import subprocess
import sys
import time

import beside
import trace_make

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "picture"))
import browser  # noqa: E402

STEPS, MOST_MS = 579, 2000  # 1,000,000 entries
MOVES = """(async () => {
    const stack = document.querySelector("#stack"), took = [], frame = () => new Promise(done => requestAnimationFrame(done));
    const move = async (options) => {
        const started = performance.now();
        stack.dispatchEvent(new WheelEvent("wheel", { clientX: 500, clientY: 300, bubbles: true, cancelable: true, ...options }));
        await frame();
        await new Promise(done => setTimeout(done));
        took.push(performance.now() - started);
    };
    for (let i = 0; i < 8; i++)
        await move({ deltaY: -60 });
    for (let i = 0; i < 24; i++)
        await move({ deltaX: i < 12 ? 40 : -40, shiftKey: true });
    return took.sort((x, y) => x - y);
})()"""


def write(plimsoll, snapshot, page):
    started = time.monotonic()
    with subprocess.Popen([plimsoll, "trace", snapshot, "--html", page], stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"plimsoll trace ended with {child.returncode}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--page", help="docs/benchmarks.md: write the figures there")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    snapshot, page, other = (os.path.join(arguments.work, name) for name in ("long.pickle", "long.html", "memory_viz.html"))
    subprocess.run([sys.executable, trace_make.__file__, str(STEPS), snapshot], check=True)
    wall_s, cpu_s, rss_mib = write(arguments.plimsoll, snapshot, page)
    lines = [f"{beside.machine_and_date()}. A snapshot of {os.path.getsize(snapshot) / 1e6:.0f} MB with 1 000 000 entries:", "",
             f"- written in {wall_s:.1f} s ({cpu_s:.1f} s of processor time), {rss_mib:.0f} MiB of memory",
             f"- the page has {os.path.getsize(page) / 1e6:.1f} MB"]
    viz = glob.glob(os.path.join(arguments.source, ".cache", "torch", "lib", "python3*", "site-packages", "torch", "cuda", "_memory_viz.py"))
    if viz:
        subprocess.run([sys.executable, viz[0], "trace_plot", snapshot, "-o", other], check=True)
        lines.append(f"- memory_viz trace_plot of the same: {os.path.getsize(other) / 1e6:.1f} MB")
    program = browser.find()
    if program:
        with browser.Browser(program) as opened:
            opens = sorted(opened.page(1400, 1000).open(page) for _ in range(arguments.runs))
            shown = opened.page(1400, 1000)
            shown.open(page)
            moves = shown.evaluate(MOVES)
        lines += [f"- opened and drawn in {opens[0]:.0f} ms at least, {statistics.median(opens):.0f} ms in the middle of "
                  f"{len(opens)} runs (Chromium)",
                  f"- a frame while it is zoomed and moved: {statistics.median(moves):.0f} ms in the middle, {moves[-1]:.0f} ms at most"]
    else:
        lines.append("- not opened: there is no Chromium")
    print("\n".join(lines))
    if program:
        print(f"\nopens in {MOST_MS} ms: {opens[0]:.0f} ms, {'kept' if opens[0] <= MOST_MS else 'NOT kept'}")
    if arguments.page:
        beside.write_page(arguments.page, "page", "\n".join(lines))
    for path in (snapshot, page, other):
        if os.path.exists(path):
            os.remove(path)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The page of `plimsoll trace --html` in Chromium: check_page.py --plimsoll PROGRAM TRACES

Opens pages of real and made snapshots (TRACES holds the real ones), moves the time filter, clicks into the chart and the
segments, uses the keys, and compares what it reads with `plimsoll trace --json` and with the snapshot itself. Nothing
may be complained of on the console, and nothing be asked of a network. Exit 77: there is no Chromium.
"""
import argparse
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

import browser

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import trace_make  # noqa: E402

GUTTER, FOOT = 62, 34  # chart.js
HOSTILE = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>\u2028\u2029\"'&amp;\x07"
HOSTILE_FILE = "a<!--<" + "/script><script>window.pwned = 1< !--'&.pickle"


def need(is_so, what):
    if not is_so:
        raise browser.Failed(what)


def same(found, expected, what):
    need(found == expected, f"{what}: {found!r}, not {expected!r}")


class Shown:
    """A page, by what a person reads and does."""

    def __init__(self, page, path):
        self.page = page
        page.open(path)

    def text(self, selector):
        return self.page.evaluate(f"document.querySelector({selector!r}).textContent")

    def number(self, selector, name):
        return float(self.page.evaluate(f"document.querySelector({selector!r}).dataset.{name}"))

    def moment(self):
        return int(self.page.evaluate("document.querySelector('#stack').getAttribute('aria-valuenow')"))

    def press(self, key):
        self.page.evaluate("document.querySelector('#stack').focus()")
        self.page.press(key)

    def push(self, selector):
        left, top, width, height = self.page.box(selector)
        self.page.click(left + width / 2, top + height / 2)
        self.page.settle()

    def rows(self):
        return self.page.evaluate("[...document.querySelectorAll('#held tbody tr')].map(r => [Number(r.cells[0].dataset.bytes), "
                                  "Number(r.cells[1].textContent.replace(/,/g, '')), r.cells[2].textContent])")

    def frames(self):
        return self.page.evaluate("[...document.querySelectorAll('#frames li')].map(e => e.textContent)")

    def chart(self):
        """The chart's own rectangle, without the words around it."""
        left, top, width, height = self.page.box("#stack")
        return left + GUTTER, top + 36, width - GUTTER - 1, height - 36 - FOOT

    def click_chart(self, across, up):
        left, top, width, height = self.chart()
        self.page.click(left + width * across, top + height * (1 - up))
        self.page.settle()

    def filter(self, first, last):
        for name, value in (("from", first), ("to", last)):
            self.page.evaluate(f"document.querySelector('#{name}').value = '{value}'")
        self.push("#apply")

    def seen(self):
        return [float(self.page.evaluate(f"document.querySelector('#{name}').value")) for name in ("from", "to")]

    def is_quiet(self, path):
        same(self.page.complaints, [], "the console")
        same(self.page.requests, ["file://" + os.path.abspath(path)], "what was asked for")


def line_text(frame):
    return f"{frame['file'].rsplit('/', 1)[-1]}:{frame['line']} {frame['function']}" if frame else "no stack was recorded"


def check_held(shown, held):
    same(shown.number("#sums", "bytes"), held["bytes"], "bytes held")
    expected = [[site["bytes"], site["count"], line_text(site["frame"])] for site in held["sites"]]
    same(shown.rows()[:len(expected)], expected, "lines that hold memory")


def choose(shown, selector, value):
    shown.page.evaluate(f"(() => {{ const e = document.querySelector('{selector}'); e.value = '{value}'; "
                        "e.dispatchEvent(new Event('change', { bubbles: true })); })()")
    shown.page.settle()


def check_pillars(shown, pillars):
    """The same memory by what it is for; where no stack tells, that cannot be chosen."""
    if not pillars:
        need(shown.page.evaluate("document.querySelector('#by').options[1].disabled"), "pillars that are not known can be chosen")
        return
    choose(shown, "#by", "pillar")
    same(sorted(row[0] for row in shown.rows()), sorted(pillars.values()), "bytes by pillar")
    choose(shown, "#by", "line")


def check_moments(shown, answer):
    """The figures of the peak, of the end, and of the request that failed."""
    peak, oom = answer["peak"], answer["oom"]
    if oom:
        same(shown.moment(), oom["entry"], "the moment that is shown first")
        check_held(shown, oom["held"])
        same(shown.number("#sums", "reserved"), oom["reserved_bytes"], "reserved when memory ran out")
        same(shown.number("#pieces", "used"), oom["allocated_bytes"], "blocks when memory ran out")
    shown.press("p")
    same(shown.moment(), (peak["entry"] + 1) if peak["entry"] is not None else 0, "the peak")
    check_held(shown, peak["held"])
    check_pillars(shown, peak["pillars"])
    same(shown.number("#pieces", "used"), peak["allocated_bytes"], "blocks at the peak")
    shown.press("e")
    same(shown.moment(), answer["entries"], "the end")
    same(shown.number("#pieces", "used"), answer["end"]["allocated_bytes"], "blocks at the end")
    same(shown.number("#pieces", "bytes"), answer["end"]["reserved_bytes"], "segments at the end")
    need(f"{answer['end']['segments']} segment" in shown.text("#pieces"), f"segments: {shown.text('#pieces')}")


def check_filter(shown, entries, times):
    """The time filter, by its fields and in the strip; then a click shows a moment of that part."""
    last = times[-1]
    shown.filter(last / 2 / 1e6, last / 1e6)
    first, end = shown.seen()
    need(abs(first - last / 2e6) <= last / 2e6 / 4 and end >= last / 1e6 - 1e-6, f"the filter shows {first} to {end}")
    shown.click_chart(0.01, 0.02)
    need(times[max(shown.moment() - 1, 0)] >= first * 1e6 - 1, f"moment {shown.moment()} is not in the part that is seen")
    need(shown.moment() < entries, "a click at the left is the end")
    shown.push("#whole")
    same(shown.seen()[0], 0, "the whole history")
    left, top, width, height = shown.page.box("#overview")
    shown.page.drag(left + GUTTER + (width - GUTTER) * 0.25, top + height / 2, left + GUTTER + (width - GUTTER) * 0.5, top + height / 2)
    first, end = shown.seen()
    middle = times[int(len(times) * 0.375)] / 1e6
    need(0 < first <= middle <= end < last / 1e6, f"a drag in the strip shows {first} to {end}")
    shown.press("0")
    same(shown.seen()[0], 0, "the key 0")


def oldest(trace, moment):
    """The allocation that has been held longest, of those in the history."""
    live = {}
    for entry in trace[:moment]:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry
        elif entry["action"] == "free_requested":
            del live[entry["addr"]]
    return next(iter(live.values()))


def check_frames(shown, trace):
    """The band at the bottom is the allocation that has been held longest; its frames are those of the snapshot."""
    shown.press("p")
    shown.click_chart(0.95, 0.004)
    first = oldest(trace, shown.moment())
    expected = [f"{frame['name']} {frame['filename'].rpartition('-packages/')[2]}:{frame['line']}" for frame in first["frames"]]
    if first["size"] > shown.number("#sums", "reserved") / 50:  # some pixels high
        same(shown.frames(), expected, "the frames of the band at the bottom")
        need(f"{first['size']:,}" in shown.text("#one"), f"its bytes: {shown.text('#one')}")
    shown.press("Escape")
    same(shown.frames(), [], "nothing is chosen")
    shown.press("ArrowUp")
    same(shown.frames(), expected, "the first band by the keys")
    shown.press("ArrowUp")
    need(shown.frames(), "the second band by the keys")


def check_segments(shown):
    """Clicks into the first bars, up to a block that is in use."""
    shown.press("p")
    left, top, width, _ = shown.page.box("#segments")
    for x in range(4, int(width), 12):
        shown.page.click(left + x, top + 8)
        shown.page.settle()
        if shown.frames():
            need("block" in shown.text("#one"), "nothing said of the block")
            return
    raise browser.Failed("no block in use in the first row of segments")


def check_steps(shown):
    shown.press("p")
    before = shown.moment()
    shown.press("ArrowLeft")
    need(shown.moment() < before, "the key to the left")
    shown.press("ArrowRight")
    same(shown.moment(), before, "the key to the right")
    shown.press("+")
    span = shown.seen()
    shown.press("-")
    need(shown.seen() != span, "the keys of the zoom")
    shown.push("#held tbody button")
    same(shown.page.evaluate("document.querySelector('#held tbody button').getAttribute('aria-pressed')"), "true", "a line alone")
    shown.push("#held tbody button")
    choose(shown, "#axis", "time")
    shown.press("e")


def check_sizes(open_page, path):
    for width, height, is_dark in [(360, 740, False), (360, 740, True), (1920, 1080, False)]:
        page = open_page(width, height, is_dark)
        shown = Shown(page, path)
        same(page.evaluate("document.scrollingElement.scrollWidth"), width, "the width of the page")
        back = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
        need((sum(back) < 384) == is_dark, f"the colour of the page: {back}")
        names = page.evaluate("[...document.querySelectorAll('button, input, select, [role=slider], [role=img]')].filter(e => "
                              "!e.hidden && !e.textContent.trim() && !e.getAttribute('aria-label') && "
                              "!e.getAttribute('aria-labelledby') && !e.labels?.length).map(e => e.id)")
        same(names, [], "controls without a name")
        shown.is_quiet(path)


def small_snapshot(name):
    """One allocation in its segment, of a line with that name, in a file with that name."""
    frames = [{"name": name, "filename": f"/home/ada/{name}.py", "line": 7}]
    common = {"stream": 0, "time_us": 5, "frames": frames, "pool_id": (0, 0)}
    entries = [common | {"action": "segment_alloc", "addr": 0x7F0000000000, "size": 2 << 20},
               common | {"action": "alloc", "addr": 0x7F0000000000, "size": 4096}]
    blocks = [{"address": 0x7F0000000000, "size": 4096, "requested_size": 4096, "state": "active_allocated", "frames": frames},
              {"address": 0x7F0000001000, "size": (2 << 20) - 4096, "requested_size": 0, "state": "inactive", "frames": []}]
    segment = {"device": 0, "address": 0x7F0000000000, "total_size": 2 << 20, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
               "is_expandable": False, "frames": frames, "blocks": blocks}
    return {"segments": [segment], "device_traces": [entries]}


def check_hostile(shown):
    """Texts are texts, and no script but the page's own runs."""
    shown.press("ArrowUp")
    same(shown.frames(), [f"{HOSTILE} /home/ada/{HOSTILE}.py:7"], "a hostile frame")
    same(shown.page.evaluate("window.pwned === undefined && document.images.length === 0 && document.scripts.length"), 3, "scripts")
    same(shown.text("h1"), os.path.basename(HOSTILE_FILE), "the name of the file")
    shown.page.evaluate("(() => { const s = document.createElement('script'); s.textContent = 'window.pwned = 2'; document.body.append(s); })()")
    same(shown.page.evaluate("window.pwned === undefined"), True, "a script that was added ran")
    same(len(shown.page.complaints), 1, "complaints of the browser about that script")


class Bench:
    """The snapshots, their answers and their pages."""

    def __init__(self, arguments, folder, opened):
        self.plimsoll, self.traces, self.folder, self.opened = arguments.plimsoll, arguments.traces, folder, opened

    def page_of(self, snapshot):
        path = os.path.join(self.folder, "page.html")
        said = subprocess.run([self.plimsoll, "trace", snapshot, "--json", "--html", path], stdout=subprocess.PIPE, check=True)
        return path, json.loads(said.stdout)

    def made(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            pickle.dump(content, file, protocol=4)
        return path

    def open(self, width=1400, height=1000, is_dark=False):
        return self.opened.page(width, height, is_dark=is_dark)


def check_history(bench, snapshot):
    path, answer = bench.page_of(snapshot)
    with open(snapshot, "rb") as file:
        trace = pickle.load(file)["device_traces"][answer["device"]]
    has_times = "time_us" in trace[0]  # PyTorch 2.1 writes none: the filter counts entries
    times = [max(entry["time_us"] - trace[0]["time_us"], 0) if has_times else 1e6 * (i + 1) for i, entry in enumerate(trace)]
    shown = Shown(bench.open(), path)
    check_moments(shown, answer)
    check_filter(shown, answer["entries"], times)
    check_frames(shown, trace)
    check_segments(shown)
    check_steps(shown)
    shown.is_quiet(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("traces", type=pathlib.Path)
    arguments = parser.parse_args()
    program = browser.find()
    if not program:
        print("skipped: there is no Chromium (Debian: chromium)")
        return 77
    with tempfile.TemporaryDirectory() as folder, browser.Browser(program) as opened:
        bench = Bench(arguments, folder, opened)
        check_sizes(bench.open, check_history(bench, arguments.traces / "train-2.15.pickle"))
        check_history(bench, arguments.traces / "train-more-2.15.pickle")
        check_history(bench, arguments.traces / "train-2.1.pickle")
        trace_make.main(3, os.path.join(folder, "made.pickle"))
        check_history(bench, os.path.join(folder, "made.pickle"))
        path, answer = bench.page_of(arguments.traces / "train-2.15.segments.pickle")
        shown = Shown(bench.open(), path)
        check_held(shown, answer["peak"]["held"])
        shown.is_quiet(path)
        path, _ = bench.page_of(bench.made(HOSTILE_FILE, small_snapshot(HOSTILE)))
        check_hostile(Shown(bench.open(), path))
    print("the page shows what plimsoll trace says")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The log fixtures of `plimsoll explain`: read from cases/*.txt, and put into the shapes that logs come in.

A case:
    @case NAME              one a name
    @framework ID...        any of them is right; none: the framework is not asked
    @cause ID...            any of them is right; none: the log does not determine it
    @not_oom yes            must not be called a memory failure
    @unsure yes             the same, and not said with high confidence: something else failed that nobody knows
    @number NAME=FIGURE     a figure that the text holds in another form than {NAME=FIGURE}
    @noise KIND...          the only kinds of noise that this form bears (none: no noise)
    @set held               was written before the pattern and not looked at while the pattern was made
followed by the text, with {NAME=FIGURE} where a figure stands. What is cut away is expected to be unknown.
"""
import json
import os
import random
import re
import sys
import textwrap
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURE = re.compile(r"\{([a-z_]+(?:\.\d+)?)=(-?[\d.,]+(?: ?[A-Za-z]+)?)\}")
POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
RATIOS = ("utilization", "mem_fraction")


def value_of(name, text):
    """The figure as the JSON has it."""
    found = re.fullmatch(r"(-?)([\d,]+\.?\d*) ?(?:([KMGTkmgt])(?:i?[Bb]|i)?|[Bb](?:ytes?)?)?", text)
    if not found:
        raise ValueError(f"no figure: {name}={text}")
    number = Fraction(found[2].replace(",", "").rstrip(".")) * (-1 if found[1] else 1)
    if name in RATIOS:
        return float(number)
    power = 1024 ** POWER[(found[3] or "").upper()]
    scaled = number * power
    return int(scaled + Fraction(1, 2)) if scaled >= 0 else -int(-scaled + Fraction(1, 2))


class Case:
    def __init__(self, name, path):
        self.name, self.path = name, path
        self.frameworks, self.causes, self.noise = [], [], None
        self.not_oom, self.unsure, self.held, self.decided = False, False, False, False
        self.fixed = {}   # numbers that do not stand in braces
        self.text = ""

    def finish(self):
        """The plain text, and where its figures end."""
        self.numbers = []  # (name, value, begin, end)
        plain, last = "", 0
        for found in FIGURE.finditer(self.text):
            plain += self.text[last:found.start()]
            begin = len(plain)
            plain += found[2]
            self.numbers.append((found[1], value_of(found[1], found[2]), begin, len(plain)))
            last = found.end()
        self.plain = plain + self.text[last:]


def read_cases(folder=os.path.join(HERE, "cases")):
    cases = []
    for file_name in sorted(os.listdir(folder)):
        if not file_name.endswith(".txt"):
            continue
        with open(os.path.join(folder, file_name), encoding="utf-8") as file:
            for line in file:
                key, _, value = line.rstrip("\n").partition(" ")
                if key == "@case":
                    cases.append(Case(value, file_name))
                elif key.startswith("@") and key[1:] in ("framework", "cause", "not_oom", "unsure", "number", "noise", "set"):
                    take(cases[-1], key[1:], value)
                elif cases and cases[-1].path == file_name:
                    cases[-1].text += line
                elif line.strip() and not line.startswith("#"):
                    raise ValueError(f"{file_name}: text before the first case")
    names = [case.name for case in cases]
    for case in cases:
        if names.count(case.name) > 1:
            raise ValueError(f"two cases {case.name}")
        case.text = case.text.strip("\n") + "\n"
        case.finish()
    return cases


def take(case, key, value):
    if key == "framework":
        case.frameworks = value.split()
    elif key == "cause":
        case.causes = value.split()
    elif key == "not_oom":
        case.not_oom = value == "yes"
    elif key == "unsure":
        case.not_oom = case.unsure = value == "yes"
    elif key == "number":
        name, _, figure = value.partition("=")
        case.fixed[name] = value_of(name, figure)
    elif key == "noise":
        case.noise = [] if value == "none" else value.split()
    elif key == "set":
        case.held = value == "held"


# --- noise ---

STAMPS = ["2026-11-03T04:11:{:02d}.{:06d}Z", "2026-11-03 04:11:{:02d},{:03d}", "[2026-11-03 04:11:{:02d}.{:03d}]"]
BEFORE = [
    "INFO 11-03 04:10:59 config.py:1861] Chunked prefill is enabled with max_num_batched_tokens=2048.",
    "/usr/lib/python3/dist-packages/requests/__init__.py:87: RequestsDependencyWarning: urllib3 doesn't match!",
    "Downloading shards: 100%|##########| 4/4 [00:00<00:00,  7.10it/s]",
    "wandb: Tracking run with wandb version 0.19.1",
    "  warnings.warn(",
    "INFO:     127.0.0.1:51234 - \"GET /health HTTP/1.1\" 200 OK",
    "step 118 | loss 2.4511 | lr 2.9e-05 | 1.02 s/it",
    "Using cache found in /root/.cache/torch/hub/main",
    "NCCL version 2.27.3+cuda12.8",
]
AFTER = [
    "wandb: Run history:",
    "make: *** [Makefile:12: train] Error 1",
    "INFO:     Shutting down",
    "Process exited.",
]


def prefixed(text, prefix):
    return "".join(prefix(i) + line for i, line in enumerate(text.splitlines(True)))


def noise_docker(text, rng):
    name = rng.choice(["trainer-1", "vllm", "llm-server-1", "app-3"])
    return prefixed(text, lambda i: f"{name}  | ")


def noise_kubernetes(text, rng):
    return prefixed(text, lambda i: f"2026-11-03T04:11:{i % 60:02d}.{rng.randrange(10**9):09d}Z stderr F ")


def noise_journal(text, rng):
    unit = rng.choice(["python[4211]", "serve[901]", "docker[55]", "run.sh[7]"])
    return prefixed(text, lambda i: f"Nov 03 04:11:{i % 60:02d} gpu1 {unit}: ")


def noise_stamp(text, rng):
    form = rng.choice(STAMPS)
    return prefixed(text, lambda i: form.format(i % 60, rng.randrange(1000)) + " ")


def noise_rank(text, rng):
    rank = rng.randrange(8)
    return prefixed(text, lambda i: f"[rank{rank}]: ")


def noise_ray(text, rng):
    name = rng.choice(["RankActor", "WorkerDict", "RayTrainWorker"])
    pid = rng.randrange(100, 99999)
    return prefixed(text, lambda i: f"({name} pid={pid}) ")


def noise_ansi(text, rng):
    words = text.split(" ")
    for _ in range(max(1, len(words) // 10)):
        at = rng.randrange(len(words))
        if "\n" not in words[at] and words[at]:
            words[at] = f"\x1b[{rng.choice(['31', '1;31', '33', '38;5;196'])}m{words[at]}\x1b[0m"
    return " ".join(words)


def noise_wrap(text, rng):
    width = rng.randrange(70, 101)
    lines = []
    for line in text.splitlines():
        lines += textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False, drop_whitespace=True) or [""]
    return "\n".join(lines) + "\n"


def noise_quote(text, rng):
    mark = rng.choice(["> ", "# ", "| ", "    "])
    return prefixed(text, lambda i: mark)


def noise_crlf(text, rng):
    return text.replace("\n", "\r\n")


def noise_json(text, rng):
    return "".join(json.dumps({"log": line, "stream": "stderr", "time": "2026-11-03T04:11:01Z"}) + "\n"
                   for line in text.splitlines(True))


def noise_body(text, rng):
    return "HTTP/1.1 500 Internal Server Error\n\n" + json.dumps({"error": {"message": text.strip(), "code": 500}}) + "\n"


def noise_mail(text, rng):
    lines = []
    for line in text.replace("=", "=3D").splitlines():
        while len(line) > 74:
            cut = 74
            while "=" in line[cut - 2:cut]:
                cut -= 1
            lines.append(line[:cut] + "=")
            line = line[cut:]
        lines.append(line)
    return "\n".join(lines) + "\n"


def noise_cell(text, rng):
    """A cell of a table in Markdown."""
    cell = "<br>".join(line.replace("|", "\\|") for line in text.strip().splitlines())
    return f"| run | what it said |\n|---|---|\n| {rng.randrange(1, 9)} | {cell} |\n"


def noise_said(text, rng):
    """In quotes, as people write it down; more than a line in a fence."""
    if "\n" in text.strip():
        return f"This is the log:\n\n```\n{text.strip()}\n```\n"
    before, after = rng.choice([("\u201c", "\u201d"), ("'", "'"), ('"', '"'), ("`", "`"), ("\u00ab ", " \u00bb"), ("**", "**")])
    return f"{rng.choice(['It says ', '', 'The log ends with: '])}{before}{text.strip()}{after}\n"


def noise_notebook(text, rng):
    """The output of a cell of a notebook as Jupyter saves it: of an exception the message, then the traceback that it ends."""
    lines = text.strip().splitlines()
    name, _, value = lines[-1].partition(": ")
    if re.fullmatch(r"[\w.]*(Error|Exception)", name) and value:
        colour = [f"\x1b[0;31m{line}\x1b[0m" if i % 3 == 0 else line for i, line in enumerate(lines[:-1])]
        output = {"ename": name.split(".")[-1], "evalue": value, "output_type": "error",
                  "traceback": ["\x1b[0;31m" + "-" * 75 + "\x1b[0m", "\n".join(colour), f"\x1b[0;31m{name}\x1b[0m: {value}"]}
    else:
        output = {"name": "stderr", "output_type": "stream", "text": [line + "\n" for line in lines]}
    cell = {"cell_type": "code", "execution_count": rng.randrange(1, 90), "metadata": {}, "outputs": [output],
            "source": ["trainer.train()"]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def noise_stamps_behind(text, rng):
    """What follows begins with digits."""
    begin = rng.choice(["0.01.234.567 I ", "12:31:07 ", "2026-11-03 12:31:07 ", "1762168267 ", "20261103 ", "3 ", "03.11.2026 "])
    return text.rstrip("\n") + "\n" + begin + "cleaning up before exit\n"


def noise_around(text, rng):
    before = "".join(line + "\n" for line in rng.sample(BEFORE, rng.randrange(2, 6)))
    after = "".join(line + "\n" for line in rng.sample(AFTER, rng.randrange(1, 3)))
    return before + text + after


NOISE = {name[6:]: function for name, function in sorted(globals().items()) if name.startswith("noise_")}


class Variant:
    """One log and what is to be said of it."""

    def __init__(self, case, kind, text, numbers, is_cut):
        self.case, self.kind, self.text, self.numbers = case, kind, text, numbers
        self.is_cut = is_cut


def whole(case):
    numbers = dict(case.fixed)
    numbers.update({name: value for name, value, _, _ in case.numbers})
    return numbers


def cut_variant(case, rng):
    """The text up to a place behind the first figure; what comes later is unknown."""
    _, _, first_begin, first_end = case.numbers[0]
    end = rng.randrange(first_end + 3, max(first_end + 4, case.numbers[-1][3] + 8))
    end = min(end, len(case.plain))
    numbers = {name: None for name in case.fixed}
    numbers.update({name: None for name, _, _, _ in case.numbers})
    for name, value, _, stop in case.numbers:
        if stop + 1 < end:
            numbers[name] = value
    for name in case.fixed:
        del numbers[name]
    return Variant(case, "cut", case.plain[:end] + rng.choice(["", "...", "\n"]), numbers, True)


HIDDEN = [lambda digits: "***", lambda digits: "[REDACTED]", lambda digits: "<redacted>", lambda digits: re.sub(r"\d", "X", digits)]


def redacted_variant(case, rng):
    """Without its figures, as people take them out: the same failure."""
    hide, text, last = rng.choice(HIDDEN), "", 0
    for _, _, begin, end in sorted(case.numbers, key=lambda number: number[2]):
        text += case.plain[last:begin] + re.sub(r"-?\d[\d.,]*", lambda found: hide(found[0]), case.plain[begin:end])
        last = end
    return Variant(case, "redacted", text + case.plain[last:], {}, True)


def variants(case, count, seed=1):
    """The plain one, then `count` with noise."""
    rng = random.Random(f"{seed} {case.name}")
    made = [Variant(case, "plain", case.plain, whole(case), False)]
    kinds = [kind for kind in NOISE if case.noise is None or kind in case.noise or kind == "around" and case.noise]
    can_cut = len(case.numbers) > 1 and not case.not_oom and (case.noise is None or "cut" in case.noise)
    for i in range(count):
        if can_cut and i == count - 1:
            made.append(cut_variant(case, rng))
        elif can_cut and case.noise is None and i == count - 2:
            made.append(redacted_variant(case, rng))
        elif kinds:
            kind = rng.choice(kinds)
            made.append(Variant(case, kind, NOISE[kind](case.plain, rng), whole(case), False))
    return made


def main(arguments):
    """cases.py FOLDER [COUNT]: write the logs there, with expected.json beside them."""
    folder, count = arguments[0], int(arguments[1]) if len(arguments) > 1 else 4
    os.makedirs(folder, exist_ok=True)
    expected = {}
    for case in read_cases():
        for i, variant in enumerate(variants(case, count)):
            name = f"{case.name}.{i}.{variant.kind}.log"
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
                file.write(variant.text)
            expected[name] = {"framework": case.frameworks, "not_oom": case.not_oom, "numbers": variant.numbers,
                              "cause": [] if variant.is_cut else case.causes}
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make a manual page: man_page.py SCDOC PLIMSOLL COMMAND IN.scd OUT

@OPTIONS@ in the source becomes what the option tables say. What scdoc writes is tidied, so that mandoc -Tlint has
nothing to say and options and quotes can be copied from the page: plain dashes and apostrophes, no empty paragraphs.
"""
import re
import subprocess
import sys
import textwrap


def plain(text):
    """Dashes and apostrophes as they are typed."""
    return text.replace("-", r"\-").replace(r"\&'", r"\(aq").replace("'", r"\(aq")


def wrapped(line):
    parts = textwrap.wrap(line, 78, break_long_words=False, break_on_hyphens=False)
    return [r"\&" + part if part[0] in ".'" and number else part for number, part in enumerate(parts)]


def tidy(page):
    # A paragraph ends after an indented block, not inside it.
    page = re.sub(r"((?:^\.P\n)+)((?:^\.RE\n)+)", r"\2.P\n", page, flags=re.M)
    lines, is_example = [], False
    for line in page.splitlines():
        if line.startswith(".TH"):
            line = re.sub(r'^\.TH "([^"]*)"', lambda match: f'.TH "{match[1].upper()}"', line)
        if line == ".nf":
            is_example = True
        elif line == ".fi":
            is_example = False
        elif is_example and not line.startswith("."):
            line = plain(line)
        elif not line.startswith("."):
            line = re.sub(r"\\fB.*?\\fR", lambda match: plain(match[0]), line).replace(r"\&'", "'")
        if line.startswith("."):
            before = lines[-1] if lines else ""
            if line == ".P" and before.startswith((".P", ".SH", ".SS", ".TH")):
                continue
            if line.startswith((".SH", ".SS")) and before == ".P":
                lines.pop()
        lines += [line] if is_example or line.startswith(".") else wrapped(line)
    while lines[-1] == ".P":
        lines.pop()
    return "\n".join(lines) + "\n"


def main(scdoc, plimsoll, command, source, target):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    if "@OPTIONS@" in text:
        options = subprocess.run([plimsoll, "--generate", "man", command], stdout=subprocess.PIPE, check=True, text=True)
        text = text.replace("@OPTIONS@\n", options.stdout)
    page = subprocess.run([scdoc], input=text, stdout=subprocess.PIPE, check=True, text=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(tidy(page.stdout))


if __name__ == "__main__":
    main(*sys.argv[1:])

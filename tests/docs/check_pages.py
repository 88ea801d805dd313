#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The pages fit together: every link of a page leads to a file and a heading that are there, every page of docs/ can be
reached from the README, the README is short, and the figures that it quotes are those of docs/accuracy.md. The walks of
docs/internals quote a commit whose files are there, and which touches at most two files outside its own folder. The codemap
of ARCHITECTURE.md has the folders that tools/check-includes.py knows, and each manual page has its sections.
"""
import ast
import functools
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
START = "README.md"
MAX_README_LINES = 150
MAX_OUTSIDE = 2
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:src|include|tests|tools|data|man|docs|bench|fuzz)/[\w./-]+)`")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def prose(path):
    """The text of a page without its examples."""
    return FENCE.sub("", read(path))


@functools.cache
def anchors(path):
    """The names that headings get (lower case, words joined by dashes), and those that the page gives itself."""
    text = prose(path)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    names = {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return names | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def pages():
    found = [name for name in os.listdir(ROOT) if name.endswith(".md")]
    for folder in ("docs", "data"):
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.relpath(os.path.join(path, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def check_page(path, reached):
    """What is wrong with the links of a page; adds the pages that it leads to."""
    text = prose(path)
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(os.path.join(ROOT, target)):
            yield f"{path}: no file for the link {link}"
        elif anchor and anchor not in anchors(target):
            yield f"{path}: no heading for the link {link}"
        reached.setdefault(path, set()).add(target)
    for name in PATH.findall(text):
        if "NAME" not in name and not os.path.exists(os.path.join(ROOT, name.rstrip("."))):
            yield f"{path}: there is no {name}"


def check_reach(reached):
    done, todo = set(), [START]
    while todo:
        path = todo.pop()
        if path not in done:
            done.add(path)
            todo += reached.get(path, ())
    for path in pages():
        if path.startswith("docs" + os.sep) and path not in done:
            yield f"{path}: no way leads there from {START}"


def check_walk(path):
    """A walk ("add-a-...") quotes a diff. Tests, data and documents do not count as places that a change has to know."""
    files = re.findall(r"^\+\+\+ b/(\S+)$", read(path), re.M)
    if not files:
        yield f"{path}: quotes no diff"
    yield from (f"{path}: there is no {name} any more" for name in files if not os.path.exists(os.path.join(ROOT, name)))
    code = [name for name in files if not re.match(r"(tests|data|docs)/|.*\.(scd|md)$", name)]
    folders = ["/".join(name.split("/")[:depth]) + "/" for name in code for depth in (2, 3) if name.count("/") >= depth]
    own = max(folders, key=lambda folder: (sum(name.startswith(folder) for name in code), len(folder)), default="")
    outside = [name for name in code if not name.startswith(own)]
    if len(outside) > MAX_OUTSIDE:
        yield f"{path}: more than {MAX_OUTSIDE} files outside {own}: {', '.join(outside)}"


def check_codemap():
    order = re.search(r"^ORDER = (\[.*?\])", read("tools/check-includes.py"), re.M | re.S)
    listed = re.findall(r"^\| `(\w+)` \|", read("ARCHITECTURE.md").partition("## Codemap")[2].partition("\n## ")[0], re.M)
    if not order or ast.literal_eval(order[1]) != listed:
        yield "ARCHITECTURE.md: its codemap is not the ORDER of tools/check-includes.py"


def check_manual():
    """Every page of a command has its sections, is built, and is named by plimsoll(1)."""
    main, build = read("man/plimsoll.1.scd"), read("man/meson.build")
    for name in sorted(os.listdir(os.path.join(ROOT, "man"))):
        page = re.fullmatch(r"(plimsoll-\w+)\.1\.scd", name)
        if not page:
            continue
        headings = re.findall(r"^# (.*)$", read("man/" + name), re.M)
        missing = [heading for heading in SECTIONS if heading not in headings]
        if missing:
            yield f"man/{name}: no section {', '.join(missing)}"
        if f"*{page[1]}*(1)" not in main.partition("# SEE ALSO")[2]:
            yield f"man/plimsoll.1.scd: SEE ALSO lacks {page[1]}"
        if f"'{page[1]}'" not in build:
            yield f"man/meson.build: {page[1]} is not built"


def check_readme():
    text = read(START)
    n_lines = len(text.splitlines())
    if n_lines > MAX_README_LINES:
        yield f"{START}: {n_lines} lines, more than {MAX_README_LINES}"
    total = re.search(r"^\| \*\*all\*\* \| (.*) \|[^|]*\|$", read("docs/accuracy.md"), re.M)
    if not total or total[1] not in text:
        yield f"{START}: its figures are not the last row of docs/accuracy.md: {total[1] if total else 'there is none'}"


def main():
    reached = {}
    complaints = [complaint for path in pages() for complaint in check_page(path, reached)]
    walks = [path for path in pages() if re.match(r"docs/internals/add-an?-", path)]
    complaints += [complaint for path in walks for complaint in check_walk(path)]
    complaints += [*check_reach(reached), *check_readme(), *check_codemap(), *check_manual()]
    print("\n".join(complaints) if complaints else "links, figures, walks, codemap and manual are right")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

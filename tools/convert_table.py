#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Write the table of architectures in docs/internals/convert.md, as the rules have them:

    build/tests/engine/convert_list --architectures | tools/convert_table.py docs/internals/convert.md [--check]

--check changes nothing and exits with 1 when the page differs.
"""
import sys

BEGIN, END = "<!-- architectures -->\n", "<!-- end of architectures -->\n"


def table(rows, kind):
    out = ["| GGUF architecture | names in `architectures` | converter | proven |\n", "|---|---|---|---|\n"]
    found = {}
    for row in rows:
        if row[0] == kind:
            found.setdefault((row[1], row[3], row[4]), []).append(row[2])
    for (arch, source, proven), names in sorted(found.items()):
        words = ", ".join(f"`{name}`" for name in names)
        out.append(f"| {arch} | {words} | {source} | {'yes' if proven == 'proven' else ''} |\n")
    return "".join(out)


def main(path, check):
    rows = [line.rstrip("\n").split("\t") for line in sys.stdin]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"{before}{BEGIN}{table(rows, 'model')}\nProjectors:\n\n{table(rows, 'projector')}{END}{after}"
    if check:
        sys.exit(made != text and f"{path} is not what the rules say: see {sys.argv[0]}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    main(sys.argv[1], "--check" in sys.argv[2:])

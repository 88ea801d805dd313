# SPDX-License-Identifier: MIT
"""
Turn a page into two C strings: embed_page.py NAME PAGE.html OUT.c defines NAME_head and NAME_tail, what comes before the
line `<!-- data -->` of the page and behind it. Its style sheet and its scripts, files beside it, are put in, the scripts
as one. A policy in the page (Content-Security-Policy) names their hashes, so that a browser executes nothing else.
"""
import base64
import hashlib
import json
import os
import re
import sys

STYLE = re.compile(r'<link rel="stylesheet" href="([\w.]+)">\n')
SCRIPT = re.compile(r'<script src="([\w.]+)"></script>\n')


def read(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        text = file.read()
    if re.search("</(script|style)", text, re.I) or "<!--" in text:
        sys.exit(f"{name}: a tag that ends the element it is put in")
    return text


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def literal(text):
    """No trigraphs: ?? stays what it is."""
    return "".join(f"    {json.dumps(line)}\n" for line in text.splitlines(keepends=True)).replace("??", "?\\?")


def assemble(path):
    folder = os.path.dirname(path)
    with open(path, encoding="ascii") as file:
        page = file.read()
    style = "\n" + "".join(read(folder, name) for name in STYLE.findall(page))
    script = "\n\"use strict\";\n(() => {\n" + "".join(read(folder, name) for name in SCRIPT.findall(page)) + "})();\n"
    page = STYLE.sub("", page).replace("</head>", f"<style>{style}</style>\n</head>")
    page = SCRIPT.sub("", page).replace("</body>", f"<script>{script}</script>\n</body>")
    return page.replace("STYLE-HASH", hash_of(style)).replace("SCRIPT-HASH", hash_of(script))


def main(name, source, target):
    head, _, tail = assemble(source).partition("<!-- data -->\n")
    if not tail:
        sys.exit(f"{source}: no line '<!-- data -->'")
    with open(target, "w", encoding="ascii") as file:
        file.write(f"/* Made by tools/embed_page.py from {os.path.basename(source)}. */\n")
        for part, text in [("head", head), ("tail", tail)]:
            file.write(f"extern const char {name}_{part}[];\nconst char {name}_{part}[] =\n{literal(text)}    ;\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

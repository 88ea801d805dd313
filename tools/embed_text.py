# SPDX-License-Identifier: MIT
"""Turn a text file into a C string: embed_text.py NAME IN OUT.c defines `const char NAME[]`."""
import json
import sys


def main():
    name, source, target = sys.argv[1:]
    with open(source, encoding="ascii") as file:
        lines = file.read().splitlines(keepends=True)
    with open(target, "w", encoding="ascii") as file:
        file.write(f"/* Made by tools/embed_text.py from {source.rsplit('/', 1)[-1]}. */\nextern const char {name}[];\nconst char {name}[] =\n")
        file.writelines(f"    {json.dumps(line)}\n" for line in lines)
        file.write("    ;\n")


main()

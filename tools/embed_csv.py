# SPDX-License-Identifier: MIT
"""Turn a CSV file into a C table: embed_csv.py NAME IN.csv OUT.c

The output defines plim_NAME_table, declared in src/base/table.h. Cells are offsets into one block of text and not
pointers, so that a table of thousands of cells costs nothing when the program starts.
"""
import csv
import sys


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(name, columns, rows, target, maker="tools/embed_csv.py"):
    offset_of, texts, end = {}, [], 0
    for cell in [cell for row in rows for cell in row]:
        if cell not in offset_of:
            offset_of[cell] = end
            texts.append(cell)
            end += len(cell.encode()) + 1
    with open(target, "w", encoding="utf-8") as out:
        out.write(f"/* Made by {maker}; do not edit. */\n#include \"base/table.h\"\n\n")
        out.write("static const char *const columns[] = {\n")
        out.writelines(f"    {quoted(column)},\n" for column in columns)
        out.write("};\nstatic const char text[] =\n")
        out.writelines(f"    {quoted(text)} \"\\0\"\n" for text in texts)
        out.write("    ;\nstatic const uint32_t cells[] = {\n")
        for row in rows:
            out.write("    " + ", ".join(str(offset_of[cell]) for cell in row) + ",\n")
        out.write("};\n")
        out.write(f"const struct plim_table plim_{name}_table = {{ columns, text, cells, {len(columns)}, {len(rows)} }};\n")


def main(name, source, target):
    with open(source, newline="", encoding="utf-8") as file:
        columns, *rows = list(csv.reader(file))
    if any(len(row) != len(columns) for row in rows):
        sys.exit(f"{source}: a row does not have {len(columns)} cells")
    write(name, columns, rows, target)


if __name__ == "__main__":
    main(*sys.argv[1:])

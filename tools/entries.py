#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Write the table of cuGetProcAddress() in C: entries.py NAMES OUTPUT. A line of NAMES is a name and, for each declaration,
the first version of CUDA that has it, with ":SYMBOL" where the symbol has another name.
"""
import sys


def main(names, output):
    with open(names, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    with open(output, "w", encoding="utf-8") as out:
        out.write('/* made by tools/entries.py */\n#include "vgpu/driver/entry.h"\n\nconst struct plim_driver_entry plim_driver_entries[] = {\n')
        for name, *versions in lines:
            for version in versions:
                number, _, symbol = version.partition(":")
                out.write(f'    {{ "{name}", {number}, "{symbol or name}" }},\n')
        out.write("};\nconst unsigned plim_n_entries = sizeof plim_driver_entries / sizeof *plim_driver_entries;\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

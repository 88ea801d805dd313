#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Write C for the functions of a list that have no body elsewhere: each says so and returns "not supported". They are weak,
so a body in another file of the library takes their place.

    stubs.py NAMES OUTPUT HEADER FAIL      FAIL: what the result passes through ("" for nothing)
"""
import sys


def main():
    names, output, header, fail = sys.argv[1:5]
    with open(names, encoding="utf-8") as file:
        listed = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    with open(output, "w", encoding="utf-8") as out:
        out.write(f'/* made by tools/stubs.py */\n#include "{header}"\n\n')
        for name in listed:
            out.write(f"__attribute__((weak)) int {name}(void)\n{{\n    return {fail}"
                      f'(plim_vgpu_unsupported("{name}", __builtin_return_address(0)));\n}}\n')


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Write C for the names that a library exports (names/, made by exports.py) without a body elsewhere: each function is
reported and returns the library's code for "not supported". They are weak, so a body in another file of the library
replaces them. Also write the linker's version script: it exports exactly the names of the list, in the library's version
node.

    stand_ins.py NAMES OUTPUT MAP
"""
import re
import sys

HEAD = """/* made by tools/stand_ins.py */
#include "vgpu/core/session.h"

static __attribute__((noinline)) int refuse(const char *name, const void *caller)
{
    plim_vgpu_unsupported(name, caller);
    return ANSWER;
}
"""
FUNCTION = """int {name}(void) __attribute__((weak));
int {name}(void)
{{
    return refuse("{name}", __builtin_return_address(0));
}}
"""


def main():
    names, output, script = sys.argv[1:4]
    with open(names, encoding="utf-8") as file:
        text = file.read()
    settings = dict(re.findall(r"^# (node|answer) (\S+)$", text, re.M))
    listed = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    with open(output, "w", encoding="utf-8") as out:
        out.write(HEAD.replace("ANSWER", settings["answer"]))
        for name, *data in listed:
            out.write(f"__attribute__((weak)) char {name}[{data[1]}];\n" if data else FUNCTION.format(name=name))
    with open(script, "w", encoding="utf-8") as out:
        out.write(settings.get("node", "") + " {\n  global:\n")
        out.writelines(f"    {name};\n" for name, *_ in listed)
        out.write("  local: *;\n};\n")


if __name__ == "__main__":
    main()

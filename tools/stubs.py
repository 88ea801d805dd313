#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Write C for the functions of a list that have no body elsewhere: each says so and returns "not supported". They are weak,
so a body in another file of the library takes their place.

    stubs.py NAMES OUTPUT HEADER FAIL [MAP]      FAIL: what the result passes through ("" for nothing)

With MAP, the linker's version script is written, too: exactly the names of the list are exported. Lines "# node NODE" and
"# answer NUMBER" of the list say in which version node, and what is returned; "NAME data BYTES" is a variable.
"""
import re
import sys

FUNCTION = """__attribute__((weak)) int {name}(void)
{{
    return refuse("{name}", __builtin_return_address(0));
}}
"""


def main():
    names, output, header, fail = sys.argv[1:5]
    with open(names, encoding="utf-8") as file:
        text = file.read()
    said = dict(re.findall(r"^# (node|answer) (\S+)$", text, re.M))
    listed = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    answer = f"({said['answer']})" if "answer" in said else ""
    with open(output, "w", encoding="utf-8") as out:
        out.write(f'/* made by tools/stubs.py */\n#include "{header}"\n\n'
                  "static __attribute__((noinline)) int refuse(const char *name, const void *caller)\n{\n"
                  "    const int error = plim_vgpu_unsupported(name, caller);\n"
                  f"    (void)error;\n    return {fail}({answer or 'error'});\n}}\n\n")
        for name, *data in listed:
            out.write(f"__attribute__((weak)) char {name}[{data[1]}];\n" if data else FUNCTION.format(name=name))
    if len(sys.argv) > 5:
        with open(sys.argv[5], "w", encoding="utf-8") as out:
            out.write(said.get("node", "") + " {\n  global:\n")
            out.writelines(f"    {name};\n" for name, *_ in listed)
            out.write("  local: *;\n};\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Write C for the functions of a list that have no body elsewhere: each is reported and returns "not supported". They are
weak, so a body in another file of the library replaces them.

    stubs.py NAMES OUTPUT HEADER FAIL      FAIL: the function that the result passes through ("": no function)

NAME = TARGET [WORDS] [@MAJOR[,MAJOR]] is the same function by another name, with that many words of arguments (default: 6),
only in the libraries of those versions if given. A target that is not in the list belongs to another library: the function of
"# ready FUNCTION" is called before it, and its result passes through FAIL.
"""
import re
import sys


def forward(name, words, fail, ready, listed):
    target, count, major = words[0], 6, None
    for word in words[1:]:
        if word.startswith("@"):
            major = " || ".join(f"PLIM_CUDART == {number}" for number in word[1:].split(","))
        else:
            count = int(word)
    call = f"plim_to_{name}({', '.join(f'a{i}' for i in range(count))})"
    if target in listed:
        call = f"    return {call};\n"
    elif ready:
        call = f"    int error = {ready}();\n    return {fail}(error ? error : {call});\n"
    else:
        call = f"    return {fail}({call});\n"
    parameters = ", ".join(f"size_t a{i}" for i in range(count))
    body = (f'int plim_to_{name}({parameters}) __asm__("{target}");\n'
            f"int {name}({parameters}) __attribute__((weak));\n"
            f"int {name}({parameters})\n{{\n{call}}}\n")
    return f"#if {major}\n{body}#endif\n" if major else body


def main():
    names, output, header, fail = sys.argv[1:5]
    with open(names, encoding="utf-8") as file:
        text = file.read()
    ready = re.search(r"^# ready (\S+)$", text, re.M)
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    listed = {line[0] for line in lines}
    with open(output, "w", encoding="utf-8") as out:
        out.write(f'/* made by tools/stubs.py */\n#include "{header}"\n\n')
        for name, *words in lines:
            if words:
                out.write(forward(name, words[1:], fail, ready and ready[1], listed))
                continue
            out.write(f"int {name}(void) __attribute__((weak));\nint {name}(void)\n{{\n    return {fail}"
                      f'(plim_vgpu_unsupported("{name}", __builtin_return_address(0)));\n}}\n')


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Write a C++ project with opcode tables for an emulator: gen_tables.py FOLDER UNITS ENTRIES"""
import os
import random
import sys


def unit(number, entries):
    rng = random.Random(number)
    rows = []
    for row in range(entries):
        code = ", ".join(str(rng.randrange(256)) for _ in range(6))
        rows.append(f'    {{"op_{number}_{row}", {{{code}}}, &step<{row % 200}>}}')
    rows = ",\n".join(rows)
    return ('#include <string>\n#include <vector>\n#include "opcodes.h"\n\n'
            'template <int N> int step(int x) { return x * N + 1; }\n\n'
            f"const std::vector<Opcode> table{number} = {{\n{rows}\n}};\n")


def main():
    folder, units, entries = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    tables = "".join(f"extern const std::vector<Opcode> table{number};\n" for number in range(units))
    header = ("#pragma once\n#include <string>\n#include <vector>\n\nstruct Opcode {\n    std::string name;\n"
              f"    std::vector<int> bytes;\n    int (*run)(int);\n}};\n\n{tables}")
    total = " + ".join(f"table{number}.size()" for number in range(units))
    main_file = ('#include <cstdio>\n#include "opcodes.h"\n\nint main() {\n'
                 f'    std::printf("%zu opcodes\\n", {total});\n}}\n')
    objects = " ".join(["main.o", *(f"table{number}.o" for number in range(units))])
    makefile = (f"CXXFLAGS ?= -O2 -std=c++17\n\nemulator: {objects}\n\t$(CXX) $(LDFLAGS) -o $@ $^\n\n%.o: %.cpp opcodes.h\n"
                "\t$(CXX) $(CXXFLAGS) -c -o $@ $<\n")
    cmake = ("cmake_minimum_required(VERSION 3.16)\nproject(emulator CXX)\nset(CMAKE_CXX_STANDARD 17)\nfile(GLOB units *.cpp)\n"
             "add_executable(emulator ${units})\n")
    for name, text in (("opcodes.h", header), ("main.cpp", main_file), ("Makefile", makefile), ("CMakeLists.txt", cmake)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    for number in range(units):
        with open(os.path.join(folder, f"table{number}.cpp"), "w", encoding="ascii") as file:
            file.write(unit(number, entries))


if __name__ == "__main__":
    main()

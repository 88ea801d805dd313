#!/bin/sh
# SPDX-License-Identifier: MIT
# check-headers.sh: every public header compiles by itself, twice included, as C11 and as C++17, with gcc and with clang.
set -eu
cd "$(dirname "$0")/.."
status=0
check() {
    printf '#include "plimsoll/%s"\n#include "plimsoll/%s"\n' "$name" "$name" |
        "$@" -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only - ||
        { echo "include/plimsoll/$name: not with $1 $2" >&2; status=1; }
}
n=0
for header in include/plimsoll/*.h; do
    name=${header##*/}
    check gcc -std=c11 -x c
    check g++ -std=c++17 -x c++
    check clang -std=c11 -x c
    check clang++ -std=c++17 -x c++
    n=$((n + 1))
done
[ "$status" = 0 ] && echo "$n headers"
exit "$status"

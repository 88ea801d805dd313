#!/bin/sh
# SPDX-License-Identifier: MIT
# abi-map.sh: write src/libplimsoll.map, the functions that include/plimsoll declares.
# abi-map.sh --check [LIBRARY]: fail when the map is another one, or LIBRARY (a .so) exports something else.
set -eu
cd "$(dirname "$0")/.."
map=src/libplimsoll.map
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Preprocessed, without the declarations of system headers: "plim_name(" in our own text, but no struct or type.
for header in include/plimsoll/*.h; do
    ${CC:-cc} -std=c11 -E -Iinclude "$header" |
        awk '/^# [0-9]+ "/ { ours = $3 ~ /include\/plimsoll\// ; next } ours'
done | tr '\n' ' ' | tr ';{}' '\n' | grep -v -E '\<(typedef|static|return)\>|=' |
    grep -o -E '\bplim_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$scratch/names"
{
    echo '/* The interface of libplimsoll.so: the functions that include/plimsoll declares. Made by tools/abi-map.sh. */'
    echo 'PLIMSOLL_0 {'
    echo 'global:'
    sed 's/.*/    &;/' "$scratch/names"
    echo 'local:'
    echo '    *;'
    echo '};'
} >"$scratch/map"

if [ "${1:-}" != --check ]; then
    cp "$scratch/map" "$map"
    echo "$(wc -l <"$scratch/names") functions in $map"
    exit 0
fi
diff -u "$map" "$scratch/map" || { echo "$map is not what the headers declare: run tools/abi-map.sh" >&2; exit 1; }
if [ $# -gt 1 ]; then
    nm -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$scratch/exported"
    diff -u "$scratch/names" "$scratch/exported" || { echo "$2 exports something else" >&2; exit 1; }
fi
echo "$(wc -l <"$scratch/names") functions, declared and exported alike"

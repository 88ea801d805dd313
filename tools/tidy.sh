#!/bin/sh
# SPDX-License-Identifier: MIT
# tidy.sh BUILD [--deep]: clang-tidy over src/ with the compile commands of a build; prints findings only.
#
# Nearly all of its time is the analyser's, which follows up to 225,000 states of a function by default; with a third of
# them it takes a third of the time. --deep: all of them.
set -u
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
states=75000
[ "${2:-}" != --deep ] || states=225000
run-clang-tidy -quiet -p "$1" -extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang \
    -extra-arg=max-nodes=$states "$PWD/src/.*\.c$" >"$log" 2>/dev/null
result=$?
sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -A3 -E '^[^ ]+:[0-9]+:[0-9]+: (warning|error):'
exit $result

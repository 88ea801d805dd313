#!/bin/sh
# SPDX-License-Identifier: MIT
# tidy.sh BUILD: clang-tidy over src/ with the compile commands of a build; prints findings only.
set -u
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run-clang-tidy -quiet -p "$1" "$PWD/src/.*\.c$" >"$log" 2>/dev/null
result=$?
sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -A3 -E '^[^ ]+:[0-9]+:[0-9]+: (warning|error):'
exit $result

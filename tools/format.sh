#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh -i: format every C file in place. format.sh --check: fail, with file and line, where one is not formatted.
set -eu
cd "$(dirname "$0")/.."
case $1 in
-i) option=-i ;;
--check) option='--dry-run -Werror' ;;
*) echo 'format.sh: -i or --check' >&2; exit 2 ;;
esac
# shellcheck disable=SC2086 # words on purpose
find include src tests bench fuzz \( -name '*.c' -o -name '*.h' \) -print0 | xargs -0 clang-format $option

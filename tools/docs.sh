#!/bin/sh
# SPDX-License-Identifier: MIT
# docs.sh [DIRECTORY]: build, then write into README.md and docs/ what their examples print now.
set -eu
cd "$(dirname "$0")/.."
directory=${1:-build}
TARGETS=src/plimsoll sh tools/build.sh "$directory"
ninja -C "$directory" tests/zoo.list tests/watch/nvml_scene.so src/libplimsoll-core.a >/dev/null
python3 tools/embed_entries.py --markdown docs/errors.md data/errors/*.entries
exec python3 tests/docs/run_examples.py --update --plimsoll "$directory/src/plimsoll" --zoo "$directory/tests/zoo" \
    --scene-nvml "$directory/tests/watch/nvml_scene.so" \
    --library "$directory/src/libplimsoll-core.a" --library=-lpcre2-8 --library=-lm --library=-ldl \
    README.md docs man

#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh [DIRECTORY]: the benchmarks that Meson knows (bench/meson.build), with their output.
set -eu
cd "$(dirname "$0")/.."
directory=${1:-build}
sh tools/install-packages.sh bench
sh tools/build.sh "$directory"
exec meson test -C "$directory" --benchmark --verbose --num-processes 1

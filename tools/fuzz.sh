#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh SECONDS [DIRECTORY]: install the fuzzers' packages, then run each for that long (fuzz/run.sh).
set -eu
cd "$(dirname "$0")/.."
sh tools/install-packages.sh fuzz
exec sh fuzz/run.sh "$1" "${2:-build-fuzz}"

#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh DIRECTORY [MESON OPTION...]: install missing packages, set up the build directory, build.
set -eu
cd "$(dirname "$0")/.."
directory=$1
shift
sh tools/install-packages.sh build
if [ ! -f "$directory/build.ninja" ]; then
    meson setup "$directory" "$@"
elif [ $# -gt 0 ]; then
    meson configure "$directory" "$@"
fi
ninja -C "$directory" ${TARGETS:-all}

#!/bin/sh
# SPDX-License-Identifier: MIT
# portable.sh [DIRECTORY]: compile the part that needs neither Linux nor a GPU for WebAssembly, Windows and macOS.
# The compiler is zig's (PyPI: ziglang, some 90 MB), installed into .cache/zig once.
set -eu
cd "$(dirname "$0")/.."
directory=${1:-build}
version=0.17.1
zig=.cache/zig
if [ ! -x "$zig/bin/python" ] || ! "$zig/bin/python" -c 'import ziglang' 2>/dev/null; then
    sh tools/install-packages.sh bench
    python3 -m venv "$zig"
    "$zig/bin/pip" install --quiet --disable-pip-version-check "ziglang==$version"
fi
TARGETS=src/plimsoll sh tools/build.sh "$directory" >/dev/null
exec python3 tools/portable.py "$zig/bin/python -m ziglang" "$directory" build-portable

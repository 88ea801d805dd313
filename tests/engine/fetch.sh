#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring the engine the receipts come from: llama.cpp v0.5.0, CUDA build, as the npm package of node-llama-cpp ships it.
#
#     fetch.sh DIR        leaves the libraries in DIR and prints nothing; does nothing when they are there
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -eu

package='@node-llama-cpp/linux-x64-cuda@3.22.1'
sha512='f2b4028f234d2d9254162b7e6298f0942e21c242a038c224076c2ec9c2817fc354d8edf248a6e259943c6b0f64bb69d44d78d29d422b13a281f3c8ad76e4c1b8'
directory=$1

if [ -e "$directory/libggml-cuda.so" ]; then
    exit 0
fi
if [ "$(uname -m)" != x86_64 ]; then
    echo "fetch: the package is for x86_64 only" >&2
    exit 77
fi
if ! command -v npm >/dev/null; then
    echo "fetch: npm is not installed" >&2
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "fetching $package (a few minutes)" >&2
if ! (cd "$work" && npm pack --silent "$package" >/dev/null); then
    echo "fetch: npm could not bring $package" >&2
    exit 77
fi
set -- "$work"/*.tgz
if [ "$(sha512sum "$1" | cut -d ' ' -f 1)" != "$sha512" ]; then
    echo "fetch: $package is not the package the tests were written for" >&2
    exit 1
fi
mkdir -p "$directory"
tar -xzf "$1" -C "$directory" --strip-components=3 package/bins/linux-x64-cuda

#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring the engine the receipts come from: llama.cpp v0.5.0, CUDA build, as the npm package of node-llama-cpp ships it;
# or an older build that receipts were recorded of.
#
#     fetch.sh DIR [BUILD]    leaves the libraries in DIR and prints nothing; does nothing when they are there
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -eu

directory=$1
case ${2:-v0.5.0} in
v0.5.0)
    release=3.22.1
    sha512='f2b4028f234d2d9254162b7e6298f0942e21c242a038c224076c2ec9c2817fc354d8edf248a6e259943c6b0f64bb69d44d78d29d422b13a281f3c8ad76e4c1b8'
    ;;
b10361)
    release=3.20.0
    sha512='5d61868f5da72bcd8d5a3bb9f87e6bfdbd0063916fff31591dd070a81f891322d2cb3786107ec773c3fa6d706173135b19d09677ac04c7f11d6793d226b9fbf5'
    ;;
b9842)
    release=3.19.0
    sha512='96ac7c09970bc578a6cf7bceb05c1177252cf1575c793d0c318323998bef4d145a7bcab4e3bc8cde693462ce878bafb7d4bcf0e4ca504c5bcef11031c491279e'
    ;;
b8390)
    release=3.18.1
    sha512='a8e6983f8bb0b14a011d0ffbc523afc8922e5daa52e7b025f92b9d822d347fdea574d64b29ed6fb921a9b408b92d33369488fae8f2a6ea1f0f95159cb70b19da'
    ;;
b6845)
    release=3.14.2
    sha512='81f8dbcee4d41435731c9fc79c6c9a03c57f81156524ca260c8916524f556f2ea85e7aed30b9a53e0acdb5dc7f8d66772410bf1b010fd08348d0e6dcf9e19499'
    ;;
b6133)
    release=3.12.1
    sha512='29b599d2fe001c8141bb884ef687cc4e9bdd99392a5b2d89202015e28e544d384acc6f629c251feab92acdb731bb59251ada7717c1331e648e0a75445950ee90'
    ;;
*)
    echo "fetch: no package is known of $2" >&2
    exit 77
    ;;
esac
package=@node-llama-cpp/linux-x64-cuda@$release

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

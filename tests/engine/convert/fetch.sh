#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring llama.cpp's converter as of v0.5.0 and the Python it runs in: the source from the npm package of node-llama-cpp
# (it holds the release as a git bundle), torch and the transformers that the converter asks for, and a newer
# transformers that knows younger architectures' checkpoints.
#
#     fetch.sh DIR     leaves DIR/llama.cpp, DIR/py/bin/python, DIR/transformers-5; does nothing when they are there
#
# torch comes without NVIDIA's libraries: nothing is computed, and the virtual GPU's stand in for them when it is loaded.
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -eu

directory=$1
release=node-llama-cpp@3.22.1
sha512='6e5b488a9b9699cd76dc7eed30880318a4ac4ab866865418795502e3c5d38d55bb5c624988927209d95333343f2e25a83e4183a5c2f816f883a60c3ba9f4e20f'

if [ -e "$directory/is-whole" ]; then
    exit 0
fi
if ! command -v npm >/dev/null || ! command -v git >/dev/null; then
    echo "fetch: npm and git are needed" >&2
    exit 77
fi
give_up() {
    echo "fetch: $1" >&2
    exit 77
}
pip() { "$directory/py/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "$@"; }

echo "fetching llama.cpp's converter, torch and transformers (2 GB)" >&2
rm -rf "$directory"
mkdir -p "$directory"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "$release" >/dev/null) || give_up "npm could not bring $release"
mv "$work"/*.tgz "$work/package.tgz"
printf '%s  %s\n' "$sha512" "$work/package.tgz" | sha512sum --check --quiet >&2 || give_up "$release has another content"
tar -xzf "$work/package.tgz" -C "$work" package/llama/gitRelease.bundle
git -c advice.detachedHead=false clone --quiet "$work/package/llama/gitRelease.bundle" "$directory/llama.cpp"
python3 -m venv "$directory/py"
pip transformers==4.57.6 'numpy~=2.2.6' 'sentencepiece<0.3' 'protobuf>=4.21,<5' safetensors sympy networkx jinja2 ||
    give_up 'pip could not bring transformers'
pip --no-deps torch==2.11.0 || give_up 'pip could not bring torch'
pip --target "$directory/transformers-5" transformers==5.23.0 || give_up 'pip could not bring transformers 5'
rm -rf "$directory/transformers-5"/numpy* # that of the environment
: >"$directory/is-whole"

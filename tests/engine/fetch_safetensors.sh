#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring the reader of safetensors that hollow checkpoints are shown to: the Python package, in a virtual environment.
#
#     fetch_safetensors.sh DIR        leaves DIR/bin/python with it; does nothing when it is there
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -u

directory=$1
packages='safetensors==0.6.2 numpy'

if "$directory/bin/python" -c 'import safetensors, numpy' 2>/dev/null; then
    exit 0
fi
rm -rf "$directory"
# shellcheck disable=SC2086 # words on purpose
if python3 -m venv "$directory" && "$directory/bin/python" -m pip install --quiet --disable-pip-version-check $packages; then
    exit 0
fi
rm -rf "$directory"
echo "fetch: pip could not bring $packages" >&2
exit 77

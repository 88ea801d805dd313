#!/bin/sh
# SPDX-License-Identifier: MIT
# sample.sh DIRECTORY: put the bundled samples there, the model as large as its file would be, and print the model's path.
# Only its header takes disk: the rest is a hole (data/samples/README.md). Beside it are the logs of crashes.
set -eu
here=$(dirname "$0")/..
file_bytes=4912916320
name=Llama-3.1-8B-Instruct-Q4_K_M.gguf
mkdir -p "$1"
cp "$here/data/samples/$name.header" "$1/$name"
truncate -s "$file_bytes" "$1/$name"
cp "$here"/data/samples/logs/*.log "$1"
echo "$1/$name"

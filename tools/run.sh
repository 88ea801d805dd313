#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [DIRECTORY]: build Plimsoll and let it do its main job on the bundled sample. `make run` calls this.
set -eu
cd "$(dirname "$0")/.."
directory=${1:-build}
TARGETS=src/plimsoll sh tools/build.sh "$directory"
sample=$(sh tools/sample.sh "$directory/samples")

# answer MODEL N: the question about a model with a context of N tokens, and its answer
answer() {
    echo
    echo "\$ $directory/src/plimsoll fit $1 --card 'RTX 4060' --ctx-size $2"
    status=0
    "$directory/src/plimsoll" fit "$1" --card 'RTX 4060' --ctx-size "$2" || status=$?
    # "it does not fit" is an answer as well
    [ "$status" -le 1 ]
}
answer Qwen3-8B 8192
answer "$sample" 32768

#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [DIRECTORY]: build Plimsoll and let it do its main job on the bundled sample. `make run` calls this.
set -eu
cd "$(dirname "$0")/.."
directory=${1:-build}
TARGETS=src/plimsoll sh tools/build.sh "$directory"
sample=$(sh tools/sample.sh "$directory/samples")
set -- "$directory/src/plimsoll" fit "$sample" --card 'RTX 4060' --ctx-size 32768
echo
echo "\$ $1 $2 $3 --card 'RTX 4060' --ctx-size 32768"
status=0
"$@" || status=$?
# "it does not fit" is an answer as well
[ "$status" -le 1 ]

#!/bin/bash
# SPDX-License-Identifier: MIT
# Run a command with a scratch disk of MIB at ./scratch: scratch_disk.sh MIB COMMAND ...
mib=$1; shift
mkdir -p scratch
exec unshare -m bash -c 'mount -t tmpfs -o size="$0"m scratch scratch && exec "$@"' "$mib" "$@"

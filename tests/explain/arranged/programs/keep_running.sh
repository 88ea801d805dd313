#!/bin/bash
# SPDX-License-Identifier: MIT
# Keep a worker running, and give up after some restarts: keep_running.sh RESTARTS COMMAND ...
restarts=$1; shift
for turn in $(seq 0 "$restarts"); do
    echo "supervisor: starting ${*##*/} (attempt $((turn + 1)))"
    "$@"
    status=$?
    if [ $status = 0 ]; then
        echo "supervisor: worker ended, nothing left to do"
        exit 0
    fi
    echo "supervisor: worker exited with status $status" >&2
    sleep 0.3
done
echo "supervisor: gave up after $restarts restarts" >&2
exit 1

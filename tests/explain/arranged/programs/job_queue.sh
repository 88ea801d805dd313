#!/bin/bash
# SPDX-License-Identifier: MIT
# Queue the print jobs of a label factory in Redis: job_queue.sh JOBS MAXMEMORY_MIB
jobs=$1 mib=$2
redis-server --port 0 --unixsocket "$PWD/queue.sock" --save '' --maxmemory "${mib}mb" --maxmemory-policy noeviction --dir "$PWD" &
server=$!
for turn in $(seq 100); do redis-cli -s queue.sock ping > /dev/null 2>&1 && break; sleep 0.1; done
label=$(head -c 700 /dev/zero | tr '\0' x)
gawk -v n="$jobs" -v label="$label" 'BEGIN { for (i = 0; i < n; i++) print "RPUSH labels job-" i ":" label }' \
    | redis-cli -s queue.sock 2>&1 | gawk '
        !NF { next }
        { n++ }
        !/^[0-9]+$/ { if (!bad++) print "job " n ": " $0 }
        END { print n - bad " jobs queued, " bad + 0 " refused"; exit bad > 0 }'
status=$?
redis-cli -s queue.sock info memory | tr -d '\r' | grep -e used_memory_human -e maxmemory_human -e total_system_memory_human
kill $server; wait $server
exit $status

#!/bin/bash
# SPDX-License-Identifier: MIT
# Count call records that were delivered twice: call_dedup.sh ROWS
set -o pipefail
awk_program='
{ key = sprintf("%08x;tariff-%02d;%s", ($1 * 7919) % 1000003, $1 % 23, $1 % 3 ? "mobile" : "fixed"); calls[key]++ }
NR % 200000 == 0 { printf "%d records, %d distinct\n", NR, length(calls) > "/dev/stderr" }
END { for (key in calls) twice += calls[key] > 1; printf "%d of %d records were delivered more than once\n", twice, NR }'
seq "$1" | gawk "$awk_program"
status=$?
[ $status = 0 ] || echo "call_dedup: gawk ended with status $status"
exit $status

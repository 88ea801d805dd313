#!/bin/bash
# SPDX-License-Identifier: MIT
# Batch job: count primes below N with a limit of seconds for each task: primes_batch.sh SECONDS N ...
seconds=$1; shift
ulimit -t "$seconds"
echo "limit: $(ulimit -t) CPU seconds a task"
echo "job $$ on $(uname -s), $(free -m | awk '/^Mem/ {print $7}') MB available"
failed=0
for n in "$@"; do
    if result=$(python3 -c "
import sys
n = int(sys.argv[1])
count, number = 0, 2
while number < n:
    count += all(number % d for d in range(2, int(number ** 0.5) + 1))
    number += 1
print(count)" "$n"); then
        echo "task $n: $result primes"
    else
        echo "task $n: failed with status $?"
        failed=1
    fi
done
exit $failed

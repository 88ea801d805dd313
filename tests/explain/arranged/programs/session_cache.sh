#!/bin/bash
# SPDX-License-Identifier: MIT
# Fill a Redis cache with shop sessions and report its memory: session_cache.sh SESSIONS BYTES
set -u
place=$(mktemp -d)
redis-server --port 0 --unixsocket "$place/s" --save "" --appendonly no --dir "$place" --daemonize no --loglevel notice > "$place/log" 2>&1 &
server=$!
for turn in $(seq 50); do [ -S "$place/s" ] && break; sleep 0.1; done
cli() { redis-cli -s "$place/s" "$@"; }
status=0
for batch in 1 2 3 4 5 6 7 8; do
    answer=$(cli EVAL "local v = string.rep('x', ARGV[3]) for i = ARGV[1], ARGV[2] do redis.call('SET', 'session:' .. i, v .. i) end return 'OK'" \
        0 $(((batch - 1) * $1 / 8)) $((batch * $1 / 8)) "$2" 2>&1)
    used=$(cli INFO memory 2>&1 | tr -d '\r' | sed -n 's/^used_memory_human://p')
    echo "batch $batch: ${answer:-no answer}, ${used:-server is gone}"
    [ "$answer" = OK ] || { status=1; break; }
done
cli SHUTDOWN NOSAVE > /dev/null 2>&1
wait $server
[ $status = 0 ] || grep -v '^$' "$place/log" | sed "s|$place/||g" | head -n 45
rm -rf "$place"
exit $status

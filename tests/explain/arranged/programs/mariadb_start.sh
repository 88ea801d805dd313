#!/bin/bash
# SPDX-License-Identifier: MIT
# Start MariaDB for the integration tests: mariadb_start.sh POOL_MIB LIMIT_MIB
set -u
pool=$1 limit=$2
data=$(mktemp -d /tmp/mdb.XXXXXX)
mariadb-install-db --no-defaults --datadir="$data" --user=root --auth-root-authentication-method=normal --skip-test-db > /dev/null 2>&1
echo "innodb_buffer_pool_size=${pool}M, ulimit -v ${limit}M"
(
    ulimit -v $((limit << 10))
    exec mariadbd --no-defaults --user=root --datadir="$data" --socket="$data/s" --pid-file="$data/pid" --skip-networking \
        --innodb-buffer-pool-size="${pool}M" > "$data/error.log" 2>&1
) &
server=$!
for turn in $(seq 200); do
    if [ -S "$data/s" ] || ! kill -0 $server 2> /dev/null; then break; fi
    sleep 0.1
done
mariadb --no-defaults -u root -S "$data/s" -e "SELECT version(), @@innodb_buffer_pool_size >> 20 AS pool_mib"
status=$?
[ $status = 0 ] && mariadb --no-defaults -u root -S "$data/s" -e shutdown
wait $server
[ $status = 0 ] || sed "s|$data/||g" "$data/error.log"
rm -rf "$data"
exit $status

#!/bin/bash
# SPDX-License-Identifier: MIT
# Run a file of SQL on a PostgreSQL server of its own: pg_task.sh FILE [-o "SERVER OPTIONS"] [-v NAME=VALUE] ...
set -u
file=$1; shift
options=""
if [ "${1:-}" = -o ]; then options=$2; shift 2; fi
place=$(mktemp -d /tmp/pgtask.XXXXXX)
cp "$file" "$place/task.sql"
if [ "$(id -u)" = 0 ]; then
    chown -R nobody "$place"
    as() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$place" "$@"; }
else
    as() { "$@"; }
fi
cd "$place" || exit 1
as initdb -D data -U app --no-sync --auth=trust > initdb.log 2>&1 || { cat initdb.log; exit 1; }
as pg_ctl -D data -l server.log -w -s -o "-c listen_addresses='' -k $place $options" start || { cat server.log; exit 1; }
as psql -h "$place" -U app -d postgres -X -v ON_ERROR_STOP=1 "$@" -f task.sql 2>&1 | sed "s|$place/||g"
status=${PIPESTATUS[0]}
as pg_ctl -D data -s -m immediate stop
if [ "$status" != 0 ]; then echo "--- server.log"; grep -v -e 'TopMemoryContext' -e 'listening on' server.log | tail -n 25 | cut -c1-200; fi
cd /; rm -rf "$place"
exit "$status"

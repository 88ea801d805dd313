#!/bin/sh
# SPDX-License-Identifier: MIT
# plimsoll-textfile.sh [DIRECTORY]: what `plimsoll ps --metrics` says, into node_exporter's textfile directory, atomically:
# a file of another name is written and then renamed, so that no reader sees half of one. When the cards do not answer,
# plimsoll still writes plimsoll_scrape_success 0; without that the old figures would stay and look like new ones.
set -u
directory=${1:-/var/lib/prometheus/node-exporter}
umask 022
cd "$directory" || exit 1
trap 'rm -f "plimsoll.prom.$$"' EXIT
plimsoll ps --metrics >"plimsoll.prom.$$"
status=$?
if [ -s "plimsoll.prom.$$" ]; then
    mv -f "plimsoll.prom.$$" plimsoll.prom
else
    rm -f plimsoll.prom
fi
exit "$status"

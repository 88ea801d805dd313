#!/bin/bash
# SPDX-License-Identifier: MIT
# Nightly campaign report: nightly_campaigns.sh LIMIT_MIB PAYMENTS OFFERS
set -eu
limit=$1 payments=$2 offers=$3
ulimit -v $((limit * 1024))
echo "== campaign report, start $(date -u +%FT%TZ), limit ${limit} MiB"
if python customer_merge.py --payments "$payments" --offers "$offers"; then
    echo "== done"
else
    status=$?
    echo "== campaign report failed with status $status" >&2
    exit $status
fi

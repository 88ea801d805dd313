#!/bin/bash
# SPDX-License-Identifier: MIT
# Count stays per car park in the export of a city's parking system: parking_stats.sh STAYS
stays=$1
echo "$(date +%T) writing export of $stays stays"
gawk -v n="$stays" 'BEGIN { srand(4); printf "["; for (i = 0; i < n; i++)
    printf "%s{\"car_park\":\"P%d\",\"entry\":%d,\"exit\":%d,\"plate\":\"%06X\",\"paid\":%s}\n", (i ? "," : ""), rand() * 40, i * 3,
        i * 3 + rand() * 9000,
           rand() * 16777215, (rand() < 0.9 ? "true" : "false"); print "]" }' > export.json
echo "$(date +%T) $(du -h export.json | cut -f1) export.json, jq $(jq --version)"
jq -c 'group_by(.car_park)
    | map({car_park: .[0].car_park, stays: length, minutes: (map(.exit - .entry) | add / length / 60 | floor)})
    | sort_by(-.stays) | .[:5][]' export.json
status=$?
echo "$(date +%T) jq: exit status $status"
exit $status

#!/bin/bash
# SPDX-License-Identifier: MIT
# Pack scanned orchestra scores for the tape library: archive_scores.sh SCORES PRESET THREADS
set -o pipefail
scores=$1 preset=$2 threads=$3
mkdir scores
for number in $(seq "$scores"); do
    head -c 1M /dev/urandom | base64 > "scores/opus_$number.pdf"
done
echo "packing $(ls scores | wc -l) scores ($(du -sh scores | cut -f1)) with xz -$preset, $threads threads"
tar --create --file scores.tar.xz --use-compress-program "xz -$preset -T$threads --no-adjust" scores || exit 1
ls -l scores.tar.xz | cut -d ' ' -f 5-

#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh SECONDS [DIRECTORY]: build the fuzzers and run each for that long; stops at the first finding.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
directory=${2:-build-fuzz}
sh tools/install-packages.sh fuzz
if [ ! -f "$directory/build.ninja" ]; then
    CC=clang meson setup "$directory" -Dfuzz=true -Dbuildtype=debugoptimized -Db_lundef=false -Ddefault_library=static
fi
ninja -C "$directory"
n=0
for fuzzer in "$directory"/fuzz/fuzz_*; do
    [ -f "$fuzzer" ] && [ -x "$fuzzer" ] || continue
    name=$(basename "$fuzzer")
    corpus=$directory/corpus/$name
    mkdir -p "$corpus" "$directory/findings"
    set -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="$directory/findings/$name-" "$corpus"
    for seeds in "fuzz/corpus/${name#fuzz_}" "fuzz/corpus/$name"; do
        [ -d "$seeds" ] && set -- "$@" "$seeds"
    done
    echo "== $name, $seconds s"
    "$fuzzer" "$@" 2>&1 | tee "$directory/$name.log" | grep -E 'SUMMARY|ERROR|stat::number_of_executed_units|Done ' || true
    if grep -q -E '^SUMMARY|ERROR: ' "$directory/$name.log"; then
        echo "$name: a finding; see $directory/$name.log" >&2
        exit 1
    fi
    grep -q 'Done ' "$directory/$name.log" || { echo "$name did not end well; see $directory/$name.log" >&2; exit 1; }
    n=$((n + 1))
done
echo "$n fuzzers, no finding"

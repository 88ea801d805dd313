#!/bin/sh
# SPDX-License-Identifier: MIT
# Run every harness for some seconds and report its findings:
#
#     fuzz/run.sh SECONDS_PER_HARNESS [BUILD_DIR] [HARNESS...]
#
# Exit status 1 when anything was found; the inputs lie in BUILD_DIR/fuzz/findings. Harnesses run one after another,
# each with one job; JOBS=2 runs that many at a time.
set -u

seconds=${1:?usage: fuzz/run.sh SECONDS_PER_HARNESS [BUILD_DIR] [HARNESS...]}
build=${2:-build-fuzz}
[ $# -gt 2 ] && shift 2 || shift $#
root=$(cd "$(dirname "$0")/.." && pwd)

if [ ! -d "$build" ]; then
    CC=clang meson setup "$build" "$root" -Dfuzz=true >/dev/null || exit 2
fi
ninja -C "$build" fuzz >/dev/null || { echo "the harnesses do not build: ninja -C $build fuzz" >&2; exit 2; }
# shellcheck disable=SC2046 # names without spaces
[ $# -gt 0 ] || set -- $(cd "$build/fuzz" && find . -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | sed 's|^\./||' | sort)

work=$(cd "$build" && pwd)/fuzz # fuzz_cli works in another folder
mkdir -p "$work/findings" "$work/logs"
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

dictionary_of() {
    case $1 in
    fuzz_gguf | fuzz_bill) echo "-dict=$root/fuzz/gguf.dict" ;;
    fuzz_cli)
        cat "$root/fuzz/flags.dict" "$root/fuzz/cli.dict" >"$work/cli.dict"
        echo "-dict=$work/cli.dict"
        ;;
    fuzz_explain) echo "-dict=$root/fuzz/explain.dict" ;;
    fuzz_log) echo "-dict=$root/fuzz/log.dict" ;;
    fuzz_safetensors | fuzz_hf_config) echo "-dict=$root/fuzz/safetensors.dict" ;;
    fuzz_flags | fuzz_card) echo "-dict=$root/fuzz/flags.dict" ;;
    esac
}

run() {
    mkdir -p "$work/corpus/$1"
    # shellcheck disable=SC2046
    "$work/$1" "$work/corpus/$1" "$work/seeds/$1" $(dictionary_of "$1") -max_total_time="$seconds" -timeout=30 \
        -rss_limit_mb=512 -malloc_limit_mb=64 -print_final_stats=1 -artifact_prefix="$work/findings/$1-" \
        >"$work/logs/$1.log" 2>&1
}

report() {
    log=$work/logs/$1.log
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ -n "$executions" ] && ! grep -q '^SUMMARY\|^==.*ERROR' "$log"; then
        echo "$1: $executions executions, $seconds s, no finding"
        return 0
    fi
    echo "$1: FOUND $(sed -n 's/^SUMMARY: //p' "$log" | head -n 1) (log: $log)"
    return 1
}

status=0
pending=0
for harness; do
    run "$harness" &
    pending=$((pending + 1))
    [ "$pending" -lt "${JOBS:-1}" ] || { wait; pending=0; }
done
wait
for harness; do
    report "$harness" || status=1
done
exit $status

#!/bin/sh
# SPDX-License-Identifier: MIT
# test.sh check|test|all: the checks of one level; CONTRIBUTING.md says what each level catches and how long it takes.
#
#     check   offline, installs nothing: one build, static checks, unit tests, the command line
#     test    installs missing packages: these with warnings as errors, documentation, logs, installation, sanitizers
#     all     these with clang, clang-tidy, fuzzing, some mutants, and the engines themselves on the virtual GPU
#
# Each check prints one line; a check that failed shows the end of its log. The last line is "N passed, N failed,
# N skipped", the tests of Meson counted one by one. BUILD is the build directory of `check`.
set -u
cd "$(dirname "$0")/.."
level=${1:-}
case $level in
check) sh tools/install-packages.sh --check check || exit 1 ;;
test) sh tools/install-packages.sh test || exit 1 ;;
all) sh tools/install-packages.sh test picture || exit 1 ;;
*) echo 'usage: test.sh check|test|all' >&2; exit 2 ;;
esac

BUILD=${BUILD:-build}
logs=build-test-logs
passed=0 failed=0 skipped=0
rm -rf "$logs"
mkdir -p "$logs"

section() { printf '\n== %s\n' "$1"; }

# quiet NAME COMMAND...: run it with its output in a log.
quiet() {
    log=$logs/$(echo "$1" | tr -c 'a-zA-Z0-9\n' '-').log
    started=$(date +%s)
    shift
    "$@" >"$log" 2>&1
    result=$?
    seconds=$(($(date +%s) - started))
    return $result
}

# check NAME COMMAND...: one check; passed when the command succeeds.
check() {
    if quiet "$@"; then
        passed=$((passed + 1))
        printf 'ok    %s (%s s)\n' "$1" "$seconds"
        return 0
    fi
    failed=$((failed + 1))
    printf 'FAIL  %s (%s s)\n' "$1" "$seconds"
    tail -n 40 "$log" | sed 's/^/      /'
    return 1
}

skip() {
    skipped=$((skipped + 1))
    printf 'skip  %s: %s\n' "$1" "$2"
}

# number KEY: the figure of a line of Meson's summary ("Ok:  12").
number() { sed -n "s/^$1: *\([0-9][0-9]*\).*/\1/p" "$log" | tail -n 1 | grep . || echo 0; }

# meson_tests NAME DIRECTORY ARGUMENT...: the tests of a build, counted one by one.
meson_tests() {
    name=$1 directory=$2
    shift 2
    quiet "$name" meson test -C "$directory" --print-errorlogs --no-suite engine --no-suite engines "$@" || true
    count_meson_tests "$name" "$directory"
}

# count_meson_tests NAME DIRECTORY: add up Meson's summary in the log.
count_meson_tests() {
    if grep -q '^No suitable tests' "$log" || grep -q '^No tests defined' "$log"; then
        skip "$1" 'no tests'
        return
    fi
    n_ok=$(($(number Ok) + $(number 'Expected Fail')))
    n_fail=$(($(number Fail) + $(number 'Unexpected Pass') + $(number Timeout)))
    n_skip=$(number Skipped)
    if [ $((n_ok + n_fail + n_skip)) = 0 ]; then # Meson itself did not come that far
        n_fail=1
    fi
    passed=$((passed + n_ok)) failed=$((failed + n_fail)) skipped=$((skipped + n_skip))
    word='ok   '
    [ "$n_fail" = 0 ] || word='FAIL '
    printf '%s %s: %s passed, %s failed, %s skipped (%s s)\n' "$word" "$1" "$n_ok" "$n_fail" "$n_skip" "$seconds"
    [ "$n_skip" = 0 ] || python3 tools/skipped.py "$2/meson-logs/testlog.json"
    [ "$n_fail" = 0 ] || tail -n 60 "$log" | sed 's/^/      /'
}

# set_up DIRECTORY OPTION...: make a build directory once.
set_up() { [ -f "$1/build.ninja" ] || meson setup "$@"; }

build() { set_up "$@" && ninja -C "$1"; }

with_clang() { CC=clang CXX=clang++ "$@"; }

static_checks() {
    section 'static checks'
    check 'clang-format' sh tools/format.sh --check
    check 'includes follow the order of the folders' python3 tools/check-includes.py
    check 'folders, files and functions are small, tags have one meaning' python3 tools/check-shape.py
    check 'output goes through the printer and the writer of JSON' python3 tools/check-print.py
    check 'flags and names of engines stand in src/engine only' python3 tools/check-engines.py
    check 'licence and line length of every file' python3 tools/check-files.py
    check 'ABI map is what the headers declare' sh tools/abi-map.sh --check
    check 'bundled sample is what its script makes' python3 data/samples/make.py --check
    check 'mutants apply to the source' python3 tests/mutants/run.py --check
}

# with_gcc DIRECTORY 'TEST ARGUMENTS' OPTION...: one build, the checks of its objects, and its tests.
with_gcc() {
    directory=$1 arguments=$2
    shift 2
    section 'gcc'
    check 'build' build "$directory" "$@" || return 0
    check 'no circle of files through their symbols' python3 tools/check-circles.py "$directory"
    check 'exported symbols' sh tools/abi-map.sh --check "$directory/src/libplimsoll.so"
    # shellcheck disable=SC2086 # words on purpose
    meson_tests 'tests' "$directory" $arguments
}

sanitizers() {
    section 'AddressSanitizer and UndefinedBehaviorSanitizer'
    check 'set up with sanitizers' with_clang set_up build-test-sanitize -Db_sanitize=address,undefined \
        -Db_lundef=false -Ddefault_library=static -Dbuildtype=debugoptimized || return 0
    # the tests build what they need
    export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    PLIMSOLL_SANITIZED=1 meson_tests 'tests under sanitizers' build-test-sanitize --suite unit --suite cli -t 5
    unset ASAN_OPTIONS UBSAN_OPTIONS
}

# fuzzing SECONDS: each fuzzer for that long.
fuzzing() {
    section "fuzzing, $1 s each"
    quiet 'fuzzing' sh fuzz/run.sh "$1" build-fuzz
    result=$?
    n_ok=$(grep -c 'no finding$' "$log") n_fail=$(grep -c ': FOUND' "$log")
    [ $result = 0 ] || [ "$n_fail" -gt 0 ] || n_fail=1
    passed=$((passed + n_ok)) failed=$((failed + n_fail))
    sed 's/^/      /' "$log"
}

clang_and_tidy() {
    section 'clang'
    check 'public headers, C11 and C++17, gcc and clang' sh tools/check-headers.sh
    if check 'build with clang, warnings are errors' with_clang build build-test-clang -Dwerror_extra=true -Db_lundef=false; then
        meson_tests 'tests with clang' build-test-clang --suite unit --suite cli
        check 'clang-tidy' sh tools/tidy.sh build-test-clang
    fi
}

# Fifteen mistakes out of tests/mutants, other ones for each commit: does the suite beside them notice?
mutants() {
    section 'mutants'
    seed=$(git rev-parse HEAD 2>/dev/null || date +%Y-%m-%d)
    check "15 mutants, seed $seed" python3 tests/mutants/run.py --sample 15 --seed "$seed"
}

# llama.cpp's own build and PyTorch; without them the tests skip themselves, with the reason.
engines() {
    section 'the engines themselves'
    quiet 'engine download' sh tests/engine/fetch.sh .cache/llama.cpp-v0.5.0 || sed 's/^/      /' "$log"
    quiet 'converter download' sh tests/engine/convert/fetch.sh .cache/convert || sed 's/^/      /' "$log"
    quiet 'safetensors download' sh tests/engine/fetch_safetensors.sh .cache/safetensors || sed 's/^/      /' "$log"
    quiet 'PyTorch download' sh tests/engine/fetch_torch.sh small .cache/torch || sed 's/^/      /' "$log"
    quiet 'packages of small programs' sh tests/engine/programs/fetch.sh .cache/programs-small small || sed 's/^/      /' "$log"
    quiet 'monitors download' sh tests/engine/watch/fetch.sh .cache/monitors || sed 's/^/      /' "$log"
    quiet 'engine' meson test -C "$1" --print-errorlogs --suite engine -t 0
    count_meson_tests 'llama.cpp and PyTorch on the virtual GPU' "$1"
}

static_checks
case $level in
check)
    with_gcc "$BUILD" '--suite unit --suite cli --suite receipts'
    ;;
test)
    with_gcc build-test-gcc '' -Dwerror_extra=true
    check 'installed, found with pkg-config, used' sh tools/check-install.sh build-test-gcc
    sanitizers
    ;;
all)
    with_gcc build-test-gcc '' -Dwerror_extra=true
    check 'installed, found with pkg-config, used' sh tools/check-install.sh build-test-gcc
    clang_and_tidy
    sanitizers
    fuzzing "${FUZZ_SECONDS:-3}"
    mutants
    [ ! -f build-test-gcc/build.ninja ] || engines build-test-gcc
    ;;
esac

printf '\n%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]

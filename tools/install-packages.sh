#!/bin/sh
# SPDX-License-Identifier: MIT
# install-packages.sh build|test|fuzz|bench|format...
#
# Install the Debian packages that these jobs need and that are missing. Nothing is missing: nothing is done. Without
# root, and without a sudo that asks nothing, it prints the one line an administrator has to run.
# It runs on a bare system: it uses the shell, dpkg-query and apt-get only.
set -eu

build='build-essential meson ninja-build pkg-config libjansson-dev libpcre2-dev python3 scdoc'
fuzz="clang libclang-rt-14-dev llvm"
wanted=''
for job in "$@"; do
    case $job in
    build) wanted="$wanted $build" ;;
    test)
        wanted="$wanted $build $fuzz clang-tidy clang-format libcmocka-dev mandoc python3-venv"
        command -v npm >/dev/null || wanted="$wanted npm" # brings the engine; a newer one than Debian's will do
        ;;
    fuzz) wanted="$wanted $build $fuzz" ;;
    bench) wanted="$wanted $build python3-venv" ;;
    format) wanted="$wanted clang-format" ;;
    *) echo "install-packages.sh: there is no job '$job'" >&2; exit 2 ;;
    esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is no Debian: make sure that you have what these packages of Debian 12 hold:$wanted" >&2
    exit 0
fi

missing=''
for package in $wanted; do
    case " $missing " in *" $package "*) continue ;; esac
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=''
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=''
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    echo "An administrator has to run: sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi
echo "Installing:$missing"
$as_root apt-get update -q
# shellcheck disable=SC2086 # words on purpose
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing

#!/bin/sh
# SPDX-License-Identifier: MIT
# install-packages.sh [--check] build|check|test|fuzz|bench|picture|format...
#
# Install the Debian packages that these jobs need and that are missing; with --check only name them and fail. When no
# package is missing it does nothing. Without root, and without a sudo that asks for no password, it prints the line that
# an administrator has to run. It needs the shell, dpkg-query and apt-get only, so it runs on a bare system.
set -eu
only_check=''
if [ "${1:-}" = --check ]; then
    only_check=yes
    shift
fi

build='build-essential meson ninja-build pkg-config libcurl4-openssl-dev libjansson-dev libncurses-dev libpcre2-dev python3 scdoc zlib1g-dev'
fuzz="clang libclang-rt-14-dev llvm"
wanted=''
for job in "$@"; do
    case $job in
    build) wanted="$wanted $build" ;;
    check) wanted="$wanted $build clang-format libcmocka-dev" ;;
    test)
        wanted="$wanted $build $fuzz clang-tidy clang-format libcmocka-dev mandoc python3-venv tmux"
        command -v npm >/dev/null || wanted="$wanted npm" # brings the engine; a newer one than Debian's will do
        ;;
    fuzz) wanted="$wanted $build $fuzz" ;;
    bench) wanted="$wanted $build python3-venv" ;;
    picture) wanted="$wanted chromium" ;; # large: for the fullest level alone
    format) wanted="$wanted clang-format" ;;
    *) echo "install-packages.sh: unknown job '$job'" >&2; exit 2 ;;
    esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian: make sure that you have what these packages of Debian 12 hold:$wanted" >&2
    exit 0
fi

missing=''
for package in $wanted; do
    case " $missing " in *" $package "*) continue ;; esac
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=''
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

command="apt-get install -y --no-install-recommends$missing"
if [ -n "$only_check" ]; then
    echo "Missing:$missing" >&2
    echo "'make test' installs them; or, as an administrator: apt-get update && $command" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=''
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    echo "An administrator has to run: sudo apt-get update && sudo $command" >&2
    exit 1
fi
echo "Installing:$missing"
$as_root apt-get update -q
# shellcheck disable=SC2086 # words on purpose
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing

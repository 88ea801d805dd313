#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring the monitors that `plimsoll ps` is compared with: nvitop and gpustat from PyPI, nvtop from Debian's contrib. nvtop
# is only unpacked, and the system's list of sources stays as it is.
#
#     fetch.sh DIR        leaves DIR/bin/nvitop, DIR/bin/gpustat and DIR/nvtop/usr/bin/nvtop; what is there is not fetched
#
# Exit status: 0 all there, 77 one of them is not to be had (which one, and why, on stderr).
set -u

directory=$1
suite=bookworm keyring=/usr/share/keyrings/debian-archive-keyring.gpg
missing=0

if [ ! -x "$directory/bin/nvitop" ] || [ ! -x "$directory/bin/gpustat" ]; then
    if ! python3 -m venv "$directory" ||
        ! "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir nvitop gpustat; then
        echo "fetch: pip could not bring nvitop and gpustat" >&2
        missing=77
    fi
fi

unpack_nvtop() {
    printf 'deb [signed-by=%s] http://deb.debian.org/debian %s main contrib\n' "$keyring" "$suite" >"$work/sources.list"
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    set -- -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=
    apt-get "$@" update && (cd "$work" && apt-get "$@" download nvtop) &&
        dpkg-deb -x "$work"/nvtop_*.deb "$directory/nvtop"
}

if [ ! -x "$directory/nvtop/usr/bin/nvtop" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    if ! command -v apt-get >/dev/null || [ ! -e "$keyring" ]; then
        echo "fetch: nvtop is a package of Debian, and this is another system" >&2
        missing=77
    elif ! unpack_nvtop >"$work/log" 2>&1; then
        sed 's/^/fetch: /' "$work/log" >&2
        echo "fetch: nvtop could not be fetched" >&2
        rm -rf "$directory/nvtop"
        missing=77
    fi
fi
exit $missing

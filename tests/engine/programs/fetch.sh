#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring the packages that a group of programs needs: of pins/GROUP.txt for Python 3.11, of pins/GROUP.json with npm, and of
# the crate cuda/GROUP with cargo, of the module cuda/GROUP with Go.
#
#     fetch.sh DIR GROUP     leaves DIR/bin/python, DIR/node_modules, DIR/release/program or DIR/program there
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -u

group=$2
case $1 in /*) directory=$1 ;; *) directory=$PWD/$1 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
give_up() {
    echo "fetch: $1" >&2
    exit 77
}
of_python() {
    python=$(command -v python3.11) || give_up 'no Python 3.11'
    "$python" -m venv "$directory" &&
        "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --requirement "$pins"
}
# Of the optional packages only those that are listed: there is one for each platform. Their install scripts build or load.
of_node() {
    command -v npm >/dev/null || give_up 'no npm'
    mkdir -p "$directory" && cp "$pins" "$directory/package.json" &&
        npm install --prefix "$directory" --omit=optional --ignore-scripts --no-audit --no-fund --silent
}
of_cargo() {
    command -v cargo >/dev/null || give_up 'no cargo'
    cargo build --quiet --release --locked --manifest-path "$here/cuda/$group/Cargo.toml" --target-dir "$directory"
}
# It is linked with libraries that have the names ours export, and no code; of NVIDIA's packages it needs the headers.
of_go() {
    command -v go >/dev/null || give_up 'no Go'
    python=$(command -v python3.11) || give_up 'no Python 3.11'
    names=$here/../../../src/vgpu/exports
    mkdir -p "$directory/include" && "$python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --root-user-action=ignore \
        --target "$directory/wheels" --requirement "$here/cuda/$group/headers.txt" || return 1
    cp -r "$directory"/wheels/nvidia/*/include/. "$directory/include" && rm -rf "$directory/wheels"
    for library in cuda.names:libcuda.so.1 names/libcufft.so.11:libcufft.so.11 names/libcurand.so.10:libcurand.so.10; do
        soname=${library#*:}
        sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\).*/void \1(void) {}/p' "$names/${library%:*}" | sort -u |
            cc -shared -fPIC -w -x c - -Wl,-soname,"$soname" -o "$directory/${soname%.so.*}.so" || return 1
    done
    (cd "$here/cuda/$group" && CGO_CFLAGS="-w -I$directory/include" CGO_LDFLAGS="-L$directory" GOFLAGS=-mod=readonly \
        go build -o "$directory/program" "$(sed -n 's|^// of this module: ||p' go.mod)")
}

for kind in python:pins/$group.txt node:pins/$group.json cargo:cuda/$group/Cargo.lock go:cuda/$group/go.sum; do
    pins=$here/${kind#*:}
    [ -f "$pins" ] || continue
    if cmp -s "$pins" "$directory/is-whole"; then
        exit 0
    fi
    rm -rf "$directory"
    echo "fetching what programs of '$group' need (up to some gigabytes)" >&2
    if "of_${kind%%:*}"; then
        cp "$pins" "$directory/is-whole"
        exit 0
    fi
    rm -rf "$directory"
    give_up "$pins could not be brought"
done
echo "fetch: there is no '$group'" >&2
exit 2

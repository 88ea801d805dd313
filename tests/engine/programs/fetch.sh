#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring the packages that a group of programs needs: of pins/GROUP.txt for Python 3.11, of pins/GROUP.json with npm, and of
# the crate cuda/GROUP with cargo.
#
#     fetch.sh DIR GROUP     leaves DIR/bin/python, DIR/node_modules or DIR/release/program there
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -u

directory=$1 group=$2
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

for kind in python:pins/$group.txt node:pins/$group.json cargo:cuda/$group/Cargo.lock; do
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

#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bring the packages that a group of programs needs, as pins/GROUP.txt lists them, for Python 3.11.
#
#     fetch.sh DIR GROUP     leaves DIR/bin/python with them; does nothing when they are there
#
# Exit status: 0 there, 77 not to be had (the reason on stderr).
set -u

directory=$1 group=$2
pins=$(dirname "$0")/pins/$group.txt
if [ ! -f "$pins" ]; then
    echo "fetch: there is no '$group'" >&2
    exit 2
fi
if cmp -s "$pins" "$directory/is-whole"; then
    exit 0
fi
python=$(command -v python3.11) || {
    echo "fetch: no Python 3.11" >&2
    exit 77
}
rm -rf "$directory"
echo "fetching what programs of '$group' need (a gigabyte and more)" >&2
if "$python" -m venv "$directory" &&
    "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --requirement "$pins"; then
    cp "$pins" "$directory/is-whole"
    exit 0
fi
rm -rf "$directory"
echo "fetch: pip could not bring $pins" >&2
exit 77

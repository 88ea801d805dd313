#!/bin/sh
# SPDX-License-Identifier: MIT
# check-install.sh BUILD: install to a scratch folder; compile and run a consumer there as C and C++, shared and static;
# every file that a package needs is installed.
set -eu
cd "$(dirname "$0")/.."
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage meson install -C "$1" --no-rebuild --quiet
config=$(find "$stage" -name plimsoll.pc)
[ -n "$config" ] || { echo 'no plimsoll.pc was installed' >&2; exit 1; }
PKG_CONFIG_PATH=$(dirname "$config")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$stage"
lib=$(dirname "$PKG_CONFIG_PATH")
# shellcheck disable=SC2046 # words on purpose
{
    gcc -std=c11 -Wall -Werror tests/install/consumer.c -o "$stage/shared" $(pkg-config --cflags --libs plimsoll)
    g++ -std=c++17 -x c++ -Wall -Werror tests/install/consumer.c -o "$stage/cpp" $(pkg-config --cflags --libs plimsoll)
    unset PKG_CONFIG_SYSROOT_DIR
    gcc -std=c11 tests/install/consumer.c -o "$stage/static" "-I$(find "$stage" -path '*/include')" \
        "$lib/libplimsoll.a" $(pkg-config --libs --static libpcre2-8) -lm -ldl
}
for program in shared cpp static; do
    LD_LIBRARY_PATH=$lib "$stage/$program"
done
for header in include/plimsoll/*.h; do
    find "$stage" -path "*/$header" | grep -q . || { echo "not installed: $header" >&2; exit 1; }
done
for file in bin/plimsoll share/man/man1/plimsoll.1 share/man/man1/plimsoll-fit.1 share/man/man1/plimsoll-cards.1 \
    share/man/man1/plimsoll-check.1 share/man/man1/plimsoll-ps.1 share/man/man1/plimsoll-top.1 share/man/man1/plimsoll-free.1 \
    share/bash-completion/completions/plimsoll share/zsh/site-functions/_plimsoll \
    share/fish/vendor_completions.d/plimsoll.fish share/doc/plimsoll/metrics.md share/doc/plimsoll/grafana/plimsoll.json \
    share/doc/plimsoll/node_exporter/plimsoll-textfile.sh share/doc/plimsoll/node_exporter/plimsoll-metrics.service \
    share/doc/plimsoll/node_exporter/plimsoll-metrics.timer share/doc/plimsoll/node_exporter/plimsoll.cron; do
    find "$stage" -path "*/$file" | grep -q . || { echo "not installed: $file" >&2; exit 1; }
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# Restore the archive of a small museum's website on its old server: restore_archive.sh PAGES MEMLIMIT_MIB
set -u
pages=$1 limit=$2
mkdir site
for page in $(seq "$pages"); do seq "$page" $((page * 37)) > "site/page_$page.html"; done
tar cf - site | xz -9e > site.tar.xz
rm -r site
echo "== server"; free -m | head -n 2
echo "== restoring $(stat -c %s site.tar.xz) bytes"
export XZ_DEFAULTS="--memlimit-decompress=${limit}MiB"
if ! tar xJf site.tar.xz; then
    echo "restore failed" >&2
    exit 1
fi
echo "== $(ls site | wc -l) pages restored"

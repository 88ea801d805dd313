/* SPDX-License-Identifier: MIT */
/* hostile_log KIND SEED BYTES: such a log, on the standard output. Without arguments: the kinds. */
#include "../unit/hostile_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16 };

int main(int argc, char **argv)
{
    static char block[BLOCK_BYTES];
    struct hostile_log log;
    enum hostile_kind kind = 0;
    if (argc != 4) {
        for (; kind < HOSTILE_KIND_MAX; kind++)
            puts(hostile_name(kind));
        return argc != 1;
    }
    while (kind < HOSTILE_KIND_MAX && strcmp(hostile_name(kind), argv[1]) != 0)
        kind++;
    if (kind == HOSTILE_KIND_MAX)
        return 1;
    hostile_begin(&log, kind, strtoull(argv[2], NULL, 10));
    for (uint64_t left = strtoull(argv[3], NULL, 10); left > 0;) {
        const size_t n = left < sizeof block ? (size_t)left : sizeof block;
        hostile_write(&log, block, n);
        if (fwrite(block, 1, n, stdout) != n)
            return 1;
        left -= n;
    }
    return fflush(stdout) != 0;
}

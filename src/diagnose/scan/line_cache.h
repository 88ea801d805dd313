/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_LINE_CACHE_H
#define PLIMSOLL_DIAGNOSE_SCAN_LINE_CACHE_H

/*
 * What a log says again and again, alike but for its figures. After a few of a kind have been read in full, the others
 * are only counted, but for one now and then: what a log costs then depends on its bytes, not on what they say.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLIM_LINE_CACHE_BITS = 10,
    PLIM_LINE_CACHE_WAYS = 4,            /* slots that a kind can be in */
    PLIM_LINE_CACHE_IN_FULL = 8,         /* texts of a kind that are read in full ... */
    PLIM_LINE_CACHE_GROUP_IN_FULL = 128, /* ... until so many of all kinds of the group were ... */
    PLIM_LINE_CACHE_LEAST_IN_FULL = 2,
    PLIM_LINE_CACHE_APART_BYTES = 1 << 16, /* what comes then: one in so many bytes, and each time twice as many */
    PLIM_LINE_CACHE_MOST_APART_BYTES = 1 << 26,
    PLIM_LINE_CACHE_READ_AHEAD = 8,
};

struct plim_line_kind {
    uint64_t hash;                /* 0: nothing is here */
    uint64_t last_read;           /* offset of the last one that was read in full */
    uint64_t found_at;            /* offset of the line that the finding was read from */
    struct plim_line_kind *group; /* what there is only so much time for; itself when it is one */
    uint32_t n, apart_bytes;
    int finding; /* that such a line is, or -1 */
};

struct plim_line_cache {
    struct plim_line_kind lines[1 << PLIM_LINE_CACHE_BITS][PLIM_LINE_CACHE_WAYS];
};

/*
 * A number for text[0..n) up to its first `most` bytes without those of figures, which leave no trace, however long
 * they are. *ret_n is how many bytes that was. PLIM_LINE_CACHE_READ_AHEAD bytes behind the text can be read.
 */
uint64_t plim_line_cache_hash(const char *text, size_t n, size_t most, size_t *ret_n);

/* The kind with this hash; NULL: not known. */
struct plim_line_kind *plim_line_cache_find(struct plim_line_cache *cache, uint64_t hash);

/* A new kind; it may replace an old one. */
struct plim_line_kind *plim_line_cache_add(struct plim_line_cache *cache, uint64_t hash, struct plim_line_kind *group);

/* True when the text at this offset is to be read in full; and that it was. */
bool plim_line_cache_wants(const struct plim_line_kind *line, uint64_t offset);
void plim_line_cache_read(struct plim_line_kind *line, uint64_t offset);

#endif

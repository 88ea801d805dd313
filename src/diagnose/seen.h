/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SEEN_H
#define PLIMSOLL_DIAGNOSE_SEEN_H

/*
 * What a log says again and again, alike but for its numbers. After a few of a kind have been read in full, the others
 * are only counted, but for one now and then: what a log costs then depends on its bytes, not on what they say.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLIM_SEEN_BITS = 12,
    PLIM_SEEN_BEHIND = 40, /* letters */
    PLIM_SEEN_AHEAD = 120,
    PLIM_SEEN_IN_FULL = 8,           /* texts of a kind that are read in full ... */
    PLIM_SEEN_APART_BYTES = 1 << 16, /* ... then one in so many bytes, and each time twice as many */
    PLIM_SEEN_MOST_APART_BYTES = 1 << 26,
};

struct plim_seen_line {
    uint64_t hash;
    uint64_t last_read; /* offset of the last one that was read in full */
    uint32_t n, apart_bytes;
    int finding; /* that such a line is, or -1 */
};

struct plim_seen {
    struct plim_seen_line lines[1 << PLIM_SEEN_BITS];
};

/*
 * The kind of text at line[at]: the letters of the line around it, so many on each side that numbers of any length
 * leave no trace. *ret_end is where these letters end.
 */
uint64_t plim_seen_hash(const char *line, size_t n, size_t at, size_t *ret_end);

/* The place of texts of this kind; a new kind may take an old one's. */
struct plim_seen_line *plim_seen_find(struct plim_seen *seen, uint64_t hash);

/* True when the text at this offset is to be read in full. */
bool plim_seen_wants(struct plim_seen_line *line, uint64_t offset);

#endif

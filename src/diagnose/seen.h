/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SEEN_H
#define PLIMSOLL_DIAGNOSE_SEEN_H

/*
 * Lines that a log says again and again, alike but for their numbers. After a few of a kind have been read in full, the
 * others are only counted, but for one in every so many bytes: what a log costs then depends on its bytes, not on
 * what they say.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLIM_SEEN_BITS = 12,
    PLIM_SEEN_IN_FULL = 16,          /* lines of a kind */
    PLIM_SEEN_APART_BYTES = 1 << 18, /* then one in so many bytes */
};

struct plim_seen_line {
    uint64_t hash;
    uint64_t last_read; /* offset of the last one that was read in full */
    uint32_t n;
    int finding; /* that such a line is, or -1 */
};

struct plim_seen {
    struct plim_seen_line lines[1 << PLIM_SEEN_BITS];
};

/* A line's words without its numbers. */
uint64_t plim_seen_hash(const char *line, size_t n);

/* The place of lines of this kind; a new kind may take an old one's. */
struct plim_seen_line *plim_seen_find(struct plim_seen *seen, uint64_t hash);

/* True when the line at this offset is to be read in full. */
bool plim_seen_wants(struct plim_seen_line *line, uint64_t offset);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_REPEATS_H
#define PLIMSOLL_DIAGNOSE_SCAN_REPEATS_H

/*
 * Which text around an anchor has been read often enough. Text is kept by kind (line_cache.h): the whole line, a piece
 * of a long one, or, when a pattern stands in too many kinds of lines, the text close to the anchor; at last all texts
 * with the pattern are one kind. So endless variety comes to an end, too, and time stays linear.
 */

#include "diagnose/scan/line_cache.h"
#include "diagnose/scan/log_buffer.h"
#include "diagnose/scan/patterns/pattern.h"

struct plim_repeats {
    struct plim_line_cache cache;
    struct plim_line_kind groups[PLIM_MAX_PATTERNS]; /* all kinds of text with a pattern */
    uint16_t n_kinds[PLIM_MAX_PATTERNS];
    /* the text around the hit that was looked at last */
    struct plim_line_kind *kind;
    uint64_t text_start, text_end; /* offsets */
    bool is_wanted;                /* it is to be read in full */
};

void plim_repeats_reset(struct plim_repeats *repeats);

/* Look up the text around the anchor at a position: `kind`, `text_start` ... `is_wanted` are about it then. may_read:
 * what is wanted is going to be read. */
void plim_repeats_look(struct plim_repeats *repeats, const struct plim_log_buffer *buffer,
                       const struct plim_trigger *trigger, size_t at, bool may_read);

/* The kind of the line from `start` to `end` when it is known and needs no reading, and how many bytes of the line tell
 * its kind; else NULL. */
const struct plim_line_kind *plim_repeats_known_line(struct plim_repeats *repeats, const struct plim_log_buffer *buffer,
                                                     size_t start, size_t end, size_t *ret_n);

#endif

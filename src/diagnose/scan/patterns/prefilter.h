/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_PREFILTER_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_PREFILTER_H

/*
 * Where in a block of bytes an anchor may stand. Every trigger has six bytes, so it holds a gram of four bytes at each
 * of three offsets, and one of these lies at a position that is a multiple of three: only those are looked at, in a
 * bitmap of all grams. What is found is compared with the whole anchor as far as wrapped lines and escapes allow;
 * the normalised window decides.
 */

#include "diagnose/scan/patterns/pattern.h"

enum { PLIM_TRIGGER_BYTES = 6, PLIM_GRAM_BYTES = 4, PLIM_GRAM_STRIDE = PLIM_TRIGGER_BYTES - PLIM_GRAM_BYTES + 1 };

struct plim_prefilter;

/* For the triggers of the table; NULL: out of memory. */
struct plim_prefilter *plim_prefilter_new(void);
void plim_prefilter_free(struct plim_prefilter *prefilter);

/* A position with the word of some triggers: plim_triggers[first] to before [last]. */
struct plim_candidate {
    size_t at;
    uint16_t first, last;
};

/*
 * Look at positions from *next, a stride apart, below `end`; return true with the next candidate, false when there is
 * no further one. *next moves on. data[0..size) may be looked at, size >= end. Several words at one position come one
 * by one: *ref_link is 0 at first and kept between calls; set to 0 again when *next is moved.
 */
bool plim_prefilter_next(const struct plim_prefilter *prefilter, const char *data, size_t size, size_t end,
                         size_t *next, uint32_t *ref_link, struct plim_candidate *ret_candidate);

/* True when the anchor of plim_triggers[trigger] may stand around its word at `at`. */
bool plim_prefilter_agrees(uint16_t trigger, const char *data, size_t size, size_t at);

#endif

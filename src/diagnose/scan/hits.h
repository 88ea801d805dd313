/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_HITS_H
#define PLIMSOLL_DIAGNOSE_SCAN_HITS_H

/* Hits of the prefilter that are near each other share a window; the patterns behind them are run on it. */

#include "diagnose/scan/patterns/prefilter.h"
#include "diagnose/scan/repeats.h"

enum { PLIM_MAX_HITS = 256 };

/* Where an anchor stands, and the kind of text around it. */
struct plim_hit {
    uint64_t offset, text_start;
    struct plim_line_kind *kind;
    uint16_t pattern;
};

struct plim_hits {
    struct plim_hit list[PLIM_MAX_HITS];
    uint32_t n;         /* 0: no window is open */
    size_t first, last; /* positions */
    uint64_t wanted[PLIM_MAX_PATTERNS / 64];
    bool has_finding; /* one of them can become a finding */
};

/* No hits. */
void plim_hits_clear(struct plim_hits *hits);

/* The hit at a position belongs to the next window: this one is full, or it ended before the hit's line. */
bool plim_hits_must_close(const struct plim_hits *hits, const struct plim_log_buffer *buffer,
                          const struct plim_repeats *repeats, size_t at);

/* Add a hit, in the text that `repeats` looked at last. */
void plim_hits_add(struct plim_hits *hits, const struct plim_log_buffer *buffer, const struct plim_repeats *repeats,
                   uint16_t pattern, size_t at);

/* Neighbours and series between two positions are wanted, too: those of texts that needed no reading have no hit. */
void plim_hits_want_neighbours(struct plim_hits *hits, const struct plim_prefilter *prefilter,
                               const struct plim_log_buffer *buffer, size_t start, size_t end);

static inline bool plim_hits_wants(const struct plim_hits *hits, uint16_t pattern)
{
    return hits->wanted[pattern / 64] >> pattern % 64 & 1;
}

/* The pattern matched from one offset to another and became this finding: text of these kinds counts for it. */
void plim_hits_remember(struct plim_hits *hits, uint64_t start, uint64_t end, uint16_t pattern, int finding);

#endif

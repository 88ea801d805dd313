/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/hits.h"

#include <string.h>

enum { CORE_BYTES = 4 << 10 }; /* hits as near as this share a window */

void plim_hits_clear(struct plim_hits *hits)
{
    memset(hits->wanted, 0, sizeof hits->wanted);
    hits->n = 0;
    hits->has_finding = false;
}

bool plim_hits_must_close(const struct plim_hits *hits, const struct plim_log_buffer *b,
                          const struct plim_repeats *repeats, size_t at)
{
    const bool is_far = at >= hits->first + CORE_BYTES && b->base + at >= repeats->text_end; /* not inside of a line */
    return hits->n == PLIM_MAX_HITS || (hits->n > 0 && is_far);
}

static void want(struct plim_hits *hits, uint16_t pattern)
{
    hits->wanted[pattern / 64] |= (uint64_t)1 << pattern % 64;
}

void plim_hits_add(struct plim_hits *hits, const struct plim_log_buffer *b, const struct plim_repeats *repeats,
                   uint16_t pattern, size_t at)
{
    if (hits->n == PLIM_MAX_HITS) /* never, when plim_hits_must_close() was asked */
        return;
    if (hits->n == 0)
        hits->first = at;
    hits->last = at;
    hits->has_finding = hits->has_finding || plim_patterns[pattern].role < PLIM_PATTERN_ROLE_NEIGHBOUR;
    hits->list[hits->n++] = (struct plim_hit){ b->base + at, repeats->text_start, repeats->kind, pattern };
    want(hits, pattern);
}

void plim_hits_want_neighbours(struct plim_hits *hits, const struct plim_prefilter *prefilter,
                               const struct plim_log_buffer *b, size_t start, size_t end)
{
    struct plim_candidate candidate;
    uint32_t link = 0;
    while (plim_prefilter_next(prefilter, b->data, b->length, end, &start, &link, &candidate))
        for (uint16_t i = candidate.first; i < candidate.last; i++) {
            const enum plim_pattern_role role = plim_patterns[plim_triggers[i].pattern].role;
            if ((role == PLIM_PATTERN_ROLE_NEIGHBOUR || role == PLIM_PATTERN_ROLE_SERIES) &&
                plim_prefilter_agrees(i, b->data, b->length, candidate.at))
                want(hits, plim_triggers[i].pattern);
        }
}

void plim_hits_remember(struct plim_hits *hits, uint64_t start, uint64_t end, uint16_t pattern, int finding)
{
    for (uint32_t i = 0; i < hits->n; i++) {
        const struct plim_hit *hit = &hits->list[i];
        if (hit->pattern == pattern && hit->offset >= start && hit->offset < end &&
            hit->kind->found_at != hit->text_start) { /* the first finding of a line is the one that it counts for */
            hit->kind->finding = finding;
            hit->kind->found_at = hit->text_start;
        }
    }
}

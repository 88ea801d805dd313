/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/window_reader.h"

#include <string.h>

enum {
    NEAR_BYTES = 768,       /* of a window without a finding, before and behind its hits */
    BEFORE_BYTES = 3 << 10, /* of a window with one, before its first hit */
    BEHIND_BYTES = 5 << 10, /* and behind its last */
    ANCHOR_BYTES = 80,      /* a match can begin so far behind its anchor's hit */
    STEPS_OF_BYTE = 4,      /* to build the windows */
};

bool plim_window_reader_init(struct plim_window_reader *r, struct plim_budget *budget)
{
    r->budget = budget;
    r->matcher = plim_matcher_new(budget);
    return r->matcher != NULL;
}

void plim_window_reader_done(struct plim_window_reader *r)
{
    plim_matcher_free(r->matcher);
    r->matcher = NULL;
}

/* How a window is run: some of its lines may have been broken in the middle of a word, and it may end in a figure. */
struct run {
    bool is_broken, is_cut;
};

static void run_pattern(struct plim_window_reader *r, uint16_t pattern, struct run run)
{
    struct plim_matches *m = &r->matches;
    const uint32_t room = PLIM_MAX_MATCHES - m->n;
    m->n += plim_matcher_run(r->matcher, &r->blank, pattern, run.is_cut, m->list + m->n,
                             room < PLIM_MAX_MATCHES_OF_PATTERN ? room : PLIM_MAX_MATCHES_OF_PATTERN);
    if (!run.is_broken || plim_patterns[pattern].is_general) /* which goes by whole words */
        return;
    const uint32_t n =
        plim_matcher_run(r->matcher, &r->joined, pattern, run.is_cut, r->joined_matches, PLIM_MAX_MATCHES_OF_PATTERN);
    for (uint32_t i = 0; i < n; i++)
        plim_matches_add_joined(m, &r->joined_matches[i]);
}

/* The wanted patterns that are general, or those that are not. */
static void run_patterns(struct plim_window_reader *r, const struct plim_hits *hits, bool is_general, struct run run)
{
    for (uint32_t i = 0; i < PLIM_MAX_PATTERNS / 64; i++)
        for (uint64_t left = hits->wanted[i]; left; left &= left - 1) {
            const uint16_t pattern = (uint16_t)(64 * i + (uint32_t)__builtin_ctzll(left));
            if (plim_patterns[pattern].is_general == is_general)
                run_pattern(r, pattern, run);
        }
}

void plim_window_reader_read(struct plim_window_reader *r, const struct plim_prefilter *prefilter,
                             const struct plim_log_buffer *b, struct plim_hits *hits, bool is_end)
{
    const size_t before = hits->has_finding ? BEFORE_BYTES : NEAR_BYTES;
    const size_t behind = hits->has_finding ? BEHIND_BYTES : NEAR_BYTES;
    const size_t start = plim_log_line_start(b, hits->first > before ? hits->first - before : 0, before / 2);
    const size_t end = b->length - hits->last > behind ? hits->last + behind : b->length;
    const size_t size = end - start < PLIM_WINDOW_BYTES ? end - start : PLIM_WINDOW_BYTES;
    const struct run run = { .is_broken = memchr(b->data + start, '\n', size) != NULL,
                             .is_cut = end < b->length || is_end || size < end - start };
    r->start = start;
    r->end = start + size;
    plim_hits_want_neighbours(hits, prefilter, b, start, hits->first);
    plim_window_build(&r->blank, b->data + start, size, PLIM_JOIN_BLANK);
    if (run.is_broken)
        plim_window_build(&r->joined, b->data + start, size, PLIM_JOIN_NOTHING);
    plim_budget_spend(r->budget, STEPS_OF_BYTE * size);
    r->matches.n = 0;
    run_patterns(r, hits, false, run);
    if (r->matches.n < PLIM_MAX_MATCHES_OF_PATTERN) { /* else the window is full of messages that are known */
        plim_matcher_know(r->matcher, r->matches.list, r->matches.n);
        run_patterns(r, hits, true, run);
        plim_matcher_know(r->matcher, NULL, 0);
    }
    plim_matches_settle(&r->matches);
    r->n_matches = 0;
    while (r->n_matches < r->matches.n && start + r->matches.sorted[r->n_matches]->start <= hits->last + ANCHOR_BYTES)
        r->n_matches++;
}

void plim_window_reader_read_said(struct plim_window_reader *r, const struct plim_log_buffer *b, bool is_beside)
{
    const struct run run = { .is_cut = true };
    r->start = 0;
    r->end = b->length;
    plim_window_build(&r->blank, b->data, b->length, PLIM_JOIN_BLANK);
    plim_budget_spend(r->budget, STEPS_OF_BYTE * b->length);
    r->matches.n = 0;
    for (uint16_t i = 0; i < plim_n_patterns; i++)
        if (plim_patterns[i].is_said && (plim_patterns[i].role == PLIM_PATTERN_ROLE_NEIGHBOUR) == is_beside)
            run_pattern(r, i, run);
    plim_matches_settle(&r->matches);
    r->n_matches = r->matches.n;
}

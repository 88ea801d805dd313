/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/matches.h"

#include "diagnose/scan/patterns/capture.h"

#include <string.h>

enum { TOUCH_BYTES = 2 };

static bool overlaps(const struct plim_match *a, const struct plim_match *b)
{
    return a->start < b->end && b->start < a->end;
}

void plim_matches_add_joined(struct plim_matches *m, const struct plim_match *joined)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct plim_match *match = &m->list[i];
        if (match->pattern == joined->pattern && overlaps(match, joined)) {
            if (joined->n_figures > match->n_figures)
                plim_match_fill(match, joined);
            return;
        }
    }
    if (m->n < PLIM_MAX_MATCHES)
        m->list[m->n++] = *joined;
}

static bool is_finding(const struct plim_match *m) { return m->pattern->role < PLIM_PATTERN_ROLE_NEIGHBOUR; }

static bool contains(const struct plim_match *a, const struct plim_match *b)
{
    return a->start <= b->start && b->end <= a->end && a->end - a->start > b->end - b->start;
}

/* A wrapper is not what it wraps: both stay. */
static bool is_wrapper(const struct plim_match *m)
{
    const enum plim_pattern_role role = m->pattern->role;
    return role == PLIM_PATTERN_ROLE_WRAPPER || role == PLIM_PATTERN_ROLE_CONSEQUENCE ||
           (role == PLIM_PATTERN_ROLE_RECOVERED && !m->pattern->note[0]);
}

/*
 * Of two findings that overlap the one whose pattern is not general is right, then the one that names its program, then
 * the one that explains more of the text, then the one with more figures, then the one that comes first in the table.
 */
static bool is_weaker(const struct plim_match *a, const struct plim_match *b)
{
    if (!is_finding(a) || !is_finding(b) || is_wrapper(a) != is_wrapper(b))
        return false;
    if (a->pattern->is_general != b->pattern->is_general)
        return a->pattern->is_general;
    if (a->pattern->is_general &&
        (a->pattern->cause == PLIM_CAUSE_UNKNOWN) != (b->pattern->cause == PLIM_CAUSE_UNKNOWN))
        return a->pattern->cause == PLIM_CAUSE_UNKNOWN; /* one says of which memory it speaks */
    const bool is_a_general = !strcmp(a->pattern->framework, "other"),
               is_b_general = !strcmp(b->pattern->framework, "other");
    if (is_a_general != is_b_general)
        return is_a_general;
    if (contains(a, b) || contains(b, a))
        return contains(b, a);
    return a->n_figures != b->n_figures ? a->n_figures < b->n_figures : a->pattern > b->pattern;
}

static void drop_weaker(struct plim_matches *m)
{
    struct {
        uint32_t start, end;
    } spans[PLIM_MAX_MATCHES]; /* matches are large: spans that do not overlap need no look at them */
    for (uint32_t i = 0; i < m->n; i++) {
        /* "OutOfMemoryError: " in general words, and the message right behind it, are one. */
        spans[i].start = m->list[i].start;
        spans[i].end = m->list[i].end + (m->list[i].pattern->is_general ? TOUCH_BYTES : 0);
    }
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t k = 0; k < m->n; k++)
            if (k != i && spans[i].start < spans[k].end && spans[k].start < spans[i].end &&
                is_weaker(&m->list[i], &m->list[k])) {
                if (!m->list[i].dropped_by || is_weaker(m->list[i].dropped_by, &m->list[k]))
                    m->list[i].dropped_by = &m->list[k];
                if (!m->list[i].pattern->is_general || m->list[k].pattern->is_general || m->list[k].n_figures == 0)
                    plim_match_fill(&m->list[k], &m->list[i]);
            }
}

/* A handful: insertion does. */
static void sort(struct plim_matches *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct plim_match *one = &m->list[i], **to = &m->sorted[i];
        for (; to > m->sorted &&
               (one->start < to[-1]->start || (one->start == to[-1]->start && one->pattern < to[-1]->pattern));
             to--)
            to[0] = to[-1];
        to[0] = one;
    }
}

void plim_matches_settle(struct plim_matches *m)
{
    drop_weaker(m);
    sort(m);
}

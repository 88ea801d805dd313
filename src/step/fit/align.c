/* SPDX-License-Identifier: MIT */
#include "step/fit/align.h"

#include <stdlib.h>
#include <string.h>

/* --- returns --- */

static int last_first(const void *a, const void *b)
{
    const struct plim_step_event *left = a, *right = b;
    return (left->id < right->id) - (left->id > right->id);
}

static void sort_track(struct plim_step_track *track)
{
    size_t mark = 0;
    for (size_t i = 0; i < track->n_events;) {
        size_t end = i;
        while (mark < track->n_marks && track->marks[mark].event <= i)
            mark++;
        const size_t most = mark < track->n_marks ? track->marks[mark].event : track->n_events;
        while (end < most && track->events[end].kind == PLIM_STEP_GIVE)
            end++;
        if (end - i > 1)
            qsort(track->events + i, end - i, sizeof *track->events, last_first);
        i = end > i ? end : i + 1;
    }
}

void plim_step_sort_returns(struct plim_step *step)
{
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_tracks; k++)
            sort_track(&step->shapes[i].tracks[k]);
}

/* --- likeness --- */

static bool are_same_events(const struct plim_step_track *a, const struct plim_step_track *b)
{
    if (a->n_events != b->n_events || a->n_allocations != b->n_allocations)
        return false;
    for (size_t i = 0; i < a->n_events; i++) {
        const struct plim_step_event *x = &a->events[i], *y = &b->events[i];
        if (x->kind != y->kind || x->id != y->id || x->stream != y->stream || x->pool != y->pool)
            return false;
    }
    return true;
}

static bool are_same_marks(const struct plim_step_track *a, const struct plim_step_track *b)
{
    if (a->n_marks != b->n_marks)
        return false;
    for (size_t i = 0; i < a->n_marks; i++) {
        const struct plim_step_mark *x = &a->marks[i], *y = &b->marks[i];
        if (x->event != y->event || x->step != y->step || x->phase != y->phase)
            return false;
    }
    return true;
}

static bool are_same_sites(const struct plim_step *a, uint32_t x, const struct plim_step *b, uint32_t y)
{
    if (x >= a->n_sites || y >= b->n_sites)
        return x >= a->n_sites && y >= b->n_sites;
    const struct plim_step_site *left = &a->sites[x], *right = &b->sites[y];
    return left->line == right->line && !strcmp(plim_step_text(a, left->file), plim_step_text(b, right->file)) &&
           !strcmp(plim_step_text(a, left->function), plim_step_text(b, right->function));
}

static bool are_same_lines(const struct plim_step *a, const struct plim_step_track *x, const struct plim_step *b,
                           const struct plim_step_track *y)
{
    uint32_t left = PLIM_STEP_NO_SITE, right = PLIM_STEP_NO_SITE; /* the last that were found to be the same */
    for (uint32_t i = 0; i < x->n_allocations; i++) {
        const uint32_t own = x->allocations[i].site, other = y->allocations[i].site;
        if ((own != left || other != right) && !are_same_sites(a, own, b, other))
            return false;
        left = own;
        right = other;
    }
    return true;
}

static bool have_same_retries(const struct plim_step_track *a, const struct plim_step_track *b)
{
    for (uint32_t i = 0; i < a->n_pools; i++)
        if ((a->has_retries && a->has_retries[i]) != (b->has_retries && b->has_retries[i]))
            return false;
    return true;
}

bool plim_step_are_alike(const struct plim_step *a, const struct plim_step *b)
{
    if (a->n_shapes != 1 || b->n_shapes != 1 || a->shapes[0].n_tracks != b->shapes[0].n_tracks)
        return false;
    for (size_t i = 0; i < a->shapes[0].n_tracks; i++) {
        const struct plim_step_track *x = &a->shapes[0].tracks[i], *y = &b->shapes[0].tracks[i];
        if (x->rank != y->rank || x->device != y->device || x->n_streams != y->n_streams || x->n_pools != y->n_pools ||
            x->end != y->end || x->starts_late != y->starts_late || !have_same_retries(x, y) ||
            !are_same_events(x, y) || !are_same_marks(x, y) || !are_same_lines(a, x, b, y))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "engine/torch/moment.h"

#include "base/mem.h"
#include "base/numbers.h"

#include <stdlib.h>

/* The bytes of each id that is held after the event `at`; 0: it is not. Its memory is free when nobody uses it. */
static void follow(const struct plim_torch_tape *tape, size_t at, size_t failed, uint64_t *bytes_of)
{
    for (size_t i = 0; i <= at && i < tape->track->n_events; i++) {
        const struct plim_torch_event *event = &tape->events[i];
        if (event->id >= tape->track->n_allocations)
            continue;
        if (event->kind == PLIM_TORCH_TAKE && i != failed)
            bytes_of[event->id] = event->bytes;
        else if (event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVEN)
            bytes_of[event->id] = 0;
    }
}

static void find_place(const struct plim_step_track *track, struct plim_torch_moment *moment)
{
    size_t low = 0, high = track->n_marks; /* the last mark that is not behind the event */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (track->marks[middle].event <= moment->event)
            low = middle + 1;
        else
            high = middle;
    }
    moment->step = low ? track->marks[low - 1].step : 0;
    moment->phase = low ? track->marks[low - 1].phase : PLIM_PHASE_MAX_;
}

/* What one site holds, by pillar. */
struct row {
    uint64_t bytes, pillar_bytes[PLIM_PILLAR_MAX_ + 1], phase_bytes[PLIM_PHASE_MAX_ + 1];
    uint32_t n, site;
};

static int by_bytes(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return (x->bytes < y->bytes) - (x->bytes > y->bytes);
    return (x->site > y->site) - (x->site < y->site);
}

/* Where most of n + 1 are; n, which is unknown, before equal ones. */
static uint8_t most_of(const uint64_t *bytes, uint8_t n)
{
    uint8_t most = n;
    for (uint8_t i = 0; i < n; i++)
        if (bytes[i] > bytes[most])
            most = i;
    return most;
}

static void list_sites(struct row *rows, size_t n, struct plim_torch_moment *moment)
{
    size_t n_held = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i].n)
            rows[n_held++] = rows[i];
    qsort(rows, n_held, sizeof *rows, by_bytes);
    for (size_t i = 0; i < n_held; i++) {
        if (i < PLIM_TORCH_MAX_SITES) {
            moment->sites[moment->n_sites++] =
                (struct plim_torch_site){ rows[i].site, rows[i].n, rows[i].bytes,
                                          most_of(rows[i].pillar_bytes, PLIM_PILLAR_MAX_),
                                          most_of(rows[i].phase_bytes, PLIM_PHASE_MAX_) };
        } else {
            moment->n_other_sites++;
            moment->other_sites_bytes = plim_bytes_sum(moment->other_sites_bytes, rows[i].bytes);
        }
    }
}

static void add(const struct plim_step_allocation *allocation, uint64_t bytes, struct row *row,
                struct plim_torch_moment *moment)
{
    const unsigned pillar = allocation->pillar < PLIM_PILLAR_MAX_ ? allocation->pillar : PLIM_PILLAR_MAX_;
    const unsigned phase = allocation->phase < PLIM_PHASE_MAX_ ? allocation->phase : PLIM_PHASE_MAX_;
    moment->n_held++;
    moment->held_bytes = plim_bytes_sum(moment->held_bytes, bytes);
    moment->pillar_bytes[pillar] = plim_bytes_sum(moment->pillar_bytes[pillar], bytes);
    moment->phase_bytes[phase] = plim_bytes_sum(moment->phase_bytes[phase], bytes);
    row->n++;
    row->bytes = plim_bytes_sum(row->bytes, bytes);
    row->pillar_bytes[pillar] = plim_bytes_sum(row->pillar_bytes[pillar], bytes);
    row->phase_bytes[phase] = plim_bytes_sum(row->phase_bytes[phase], bytes);
}

int plim_torch_moment_at(const struct plim_torch_tape *tape, size_t at, size_t failed,
                         struct plim_torch_moment *ret_moment, struct plim_error *reterr)
{
    const struct plim_step_track *track = tape->track;
    const size_t n_sites = tape->step->n_sites;
    struct plim_torch_moment moment = { .event = at };
    uint64_t *bytes_of = plim_alloc((size_t)track->n_allocations + 1, sizeof *bytes_of);
    struct row *rows = plim_alloc(n_sites + 1, sizeof *rows); /* the last: no site */
    if (!bytes_of || !rows) {
        plim_free(bytes_of);
        plim_free(rows);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i <= n_sites; i++)
        rows[i].site = i < n_sites ? (uint32_t)i : PLIM_STEP_NO_SITE;
    follow(tape, at, failed, bytes_of);
    find_place(track, &moment);
    for (uint32_t id = 0; id < track->n_allocations; id++) {
        const uint32_t site = track->allocations[id].site;
        if (bytes_of[id])
            add(&track->allocations[id], bytes_of[id], &rows[site < n_sites ? site : n_sites], &moment);
    }
    list_sites(rows, n_sites + 1, &moment);
    plim_free(bytes_of);
    plim_free(rows);
    *ret_moment = moment;
    return 0;
}

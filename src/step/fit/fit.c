/* SPDX-License-Identifier: MIT */
#include "step/fit/fit.h"

#include "base/mem.h"
#include "step/fit/form.h"
#include "step/fit/group.h"
#include "step/fit/rows.h"
#include "step/fit/sites.h"
#include "step/fit/turns/loops.h"

#include <string.h>

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

/* --- tracks --- */

/* The recordings from which a shape is fitted: those that are not left out, or all where it has no others. */
static size_t list_recordings(const struct plim_step_fit *fit, const struct plim_step_groups *groups, size_t shape,
                              const struct plim_step_recording **list)
{
    const struct plim_step_recording *all = groups->folds.recordings ? groups->folds.recordings : fit->recordings;
    size_t n = 0;
    for (int takes_left_out = 0; takes_left_out < 2 && n == 0; takes_left_out++)
        for (size_t i = 0; i < fit->n_recordings; i++)
            if (all[i].shape == shape && (takes_left_out || !all[i].is_left_out))
                list[n++] = &all[i];
    return n;
}

static void *copy_of(const void *array, size_t n, size_t size, bool *is_done)
{
    void *copy = array && n ? plim_alloc(n, size) : NULL;
    if (copy)
        memcpy(copy, array, n * size);
    *is_done = *is_done && (copy || !array || !n);
    return copy;
}

/* What all recordings that know it agree on; `unknown` where they do not. */
static uint8_t agreed(uint8_t own, uint8_t other, uint8_t unknown, bool *is_disputed)
{
    if (*is_disputed || own == other || other == unknown)
        return own;
    *is_disputed = own != unknown;
    return *is_disputed ? unknown : other;
}

/* The allocation of a recording that is number i of the braid; NULL: it does not have it. */
static const struct plim_step_allocation *
allocation_of(const struct plim_step_braid *braid, const struct plim_step_recording *recording, size_t at, uint32_t i)
{
    const uint32_t own = braid->own[recording->strand][at][i];
    return own == PLIM_STEP_NO_ALLOCATION ? NULL : &recording->step.shapes[0].tracks[at].allocations[own];
}

static void agree(struct plim_step_track *track, const struct plim_step_braid *braid,
                  const struct plim_step_recording *const *list, size_t n, size_t at)
{
    for (uint32_t i = 0; i < track->n_allocations; i++) {
        struct plim_step_allocation *own = &track->allocations[i];
        bool is_pillar_disputed = false, is_phase_disputed = false;
        for (size_t k = 0; k < n; k++) {
            const struct plim_step_allocation *other = allocation_of(braid, list[k], at, i);
            if (!other)
                continue;
            own->pillar = agreed(own->pillar, other->pillar, PLIM_PILLAR_MAX_, &is_pillar_disputed);
            own->phase = agreed(own->phase, other->phase, PLIM_PHASE_MAX_, &is_phase_disputed);
        }
    }
}

/* Libraries take what their largest work asks for; room that was larger in one recording was no limit in another. */
static void join_figures(struct plim_step_track *track, const struct plim_step_recording *const *list, size_t n,
                         size_t at)
{
    for (size_t k = 0; k < n; k++) {
        const struct plim_step_track *own = &list[k]->step.shapes[0].tracks[at];
        if (track->outside_bytes == PLIM_STEP_UNKNOWN_BYTES ||
            (own->outside_bytes != PLIM_STEP_UNKNOWN_BYTES && own->outside_bytes > track->outside_bytes))
            track->outside_bytes = own->outside_bytes;
        if (own->capacity_bytes > track->capacity_bytes)
            track->capacity_bytes = own->capacity_bytes;
        track->recorded[k].allocated_bytes = own->recorded ? own->recorded[0].allocated_bytes : PLIM_STEP_UNKNOWN_BYTES;
        track->recorded[k].reserved_bytes = own->recorded ? own->recorded[0].reserved_bytes : PLIM_STEP_UNKNOWN_BYTES;
    }
}

static bool join_track(struct plim_step_track *track, const struct plim_step_braid *braid,
                       const struct plim_step_recording *const *list, size_t n, size_t at)
{
    const struct plim_step_track *base = &list[0]->step.shapes[0].tracks[at], *order = &braid->tracks[at];
    bool is_done = true;
    *track = *order;
    track->outside_bytes = base->outside_bytes;
    track->capacity_bytes = base->capacity_bytes;
    track->has_retries = copy_of(base->has_retries, base->n_pools, sizeof *base->has_retries, &is_done);
    track->events = copy_of(order->events, order->n_events, sizeof *order->events, &is_done);
    track->allocations = copy_of(order->allocations, order->n_allocations, sizeof *order->allocations, &is_done);
    track->marks = copy_of(order->marks, order->n_marks, sizeof *order->marks, &is_done);
    track->recorded = plim_alloc(n, sizeof *track->recorded);
    if (!is_done || !track->recorded)
        return false;
    agree(track, braid, list, n, at);
    join_figures(track, list, n, at);
    return true;
}

/* --- the step --- */

static int join_shape(const struct plim_step_fit *fit, const struct plim_step_braid *braid,
                      const struct plim_step_recording *const *list, size_t n, struct plim_step *step,
                      struct plim_error *reterr)
{
    struct plim_step_shape *shape = &step->shapes[step->n_shapes++];
    shape->left_out_allocated_error = shape->left_out_reserved_error = -1;
    shape->points = plim_alloc(n, sizeof *shape->points);
    shape->tracks = plim_alloc(braid->n_tracks, sizeof *shape->tracks);
    if (!shape->points || !shape->tracks)
        return out_of_memory(reterr);
    shape->n_points = n;
    for (size_t i = 0; i < n; i++)
        shape->points[i] = list[i]->point;
    while (shape->n_tracks < braid->n_tracks) {
        const size_t at = shape->n_tracks++;
        if (!join_track(&shape->tracks[at], braid, list, n, at))
            return out_of_memory(reterr);
    }
    return plim_step_fit_sizes(fit, braid, list, shape, reterr);
}

static void describe(const struct plim_step_fit *fit, const struct plim_step *base, struct plim_step *step)
{
    memcpy(step->torch_version, base->torch_version, sizeof step->torch_version);
    memcpy(step->alloc_conf, base->alloc_conf, sizeof step->alloc_conf);
    memcpy(step->card_name, base->card_name, sizeof step->card_name);
    step->card_bytes = base->card_bytes;
    step->n_variables = fit->n_variables;
    memcpy(step->variables, fit->variables, sizeof step->variables);
}

int plim_step_fit(struct plim_step_fit *fit, struct plim_step *ret_step, struct plim_error *reterr)
{
    if (fit->n_recordings > PLIM_STEP_MAX_POINTS)
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "%zu recordings of one program: at most %d",
                         fit->n_recordings, PLIM_STEP_MAX_POINTS);
    const struct plim_step_recording *list[PLIM_STEP_MAX_POINTS];
    struct plim_step step = { .n_variables = fit->n_variables };
    struct plim_step_groups groups = { 0 };
    int result = plim_step_groups_make(fit, &step, &groups, reterr);
    if (result == 0 && groups.n == 0)
        result =
            plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "no recording has a whole step of PyTorch's memory");
    step.shapes = result == 0 ? plim_alloc(groups.n, sizeof *step.shapes) : NULL;
    if (result == 0 && !step.shapes)
        result = out_of_memory(reterr);
    for (size_t i = 0; result == 0 && i < groups.n; i++) {
        const size_t n = list_recordings(fit, &groups, i, list);
        if (n == 0)
            continue;
        if (i == 0)
            describe(fit, &list[0]->step, &step);
        result = join_shape(fit, &groups.braids[i], list, n, &step, reterr);
        if (result == 0 && groups.folds.recordings)
            result = plim_step_fit_loops(&groups.folds, (size_t)(list[0] - groups.folds.recordings), &groups.braids[i],
                                         list, &step.shapes[step.n_shapes - 1], reterr);
    }
    plim_step_groups_done(&groups);
    plim_step_settle_sites(&step);
    if (result == 0 && !plim_step_add_text(&step, fit->command ? fit->command : "", &step.command))
        result = out_of_memory(reterr);
    if (result < 0) {
        plim_step_done(&step);
        return result;
    }
    *ret_step = step;
    return 0;
}

void plim_step_fit_count(const struct plim_step_shape *shape, struct plim_step_fit_counts *ret_counts)
{
    struct plim_step_fit_counts counts = { 0 };
    for (size_t i = 0; i < shape->n_sizes; i++)
        *(shape->sizes[i].is_exact ? &counts.n_exact : &counts.n_near) += 1;
    for (size_t i = 0; i < shape->n_tracks; i++)
        for (uint32_t k = 0; k < shape->tracks[i].n_allocations; k++) {
            const uint32_t size = shape->tracks[i].allocations[k].size;
            counts.n_allocations++;
            counts.n_near_allocations += size < shape->n_sizes && !shape->sizes[size].is_exact;
        }
    *ret_counts = counts;
}

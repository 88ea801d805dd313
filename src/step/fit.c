/* SPDX-License-Identifier: MIT */
#include "step/fit.h"

#include "base/mem.h"
#include "step/align.h"
#include "step/fit_sizes.h"
#include "step/form.h"

#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

/* --- shapes --- */

/* What came after a request that failed is not known, so that the order is not that of the program. */
static bool is_whole(const struct plim_step *step)
{
    if (step->n_shapes != 1 || step->shapes[0].n_tracks == 0)
        return false;
    for (size_t i = 0; i < step->shapes[0].n_tracks; i++)
        if (step->shapes[0].tracks[i].end == PLIM_STEP_END_MEMORY)
            return false;
    return true;
}

size_t plim_step_group(struct plim_step_fit *fit)
{
    size_t n_shapes = 0;
    for (size_t i = 0; i < fit->n_recordings; i++) {
        struct plim_step_recording *own = &fit->recordings[i];
        own->shape = PLIM_STEP_NO_SHAPE;
        if (!is_whole(&own->step))
            continue;
        plim_step_sort_returns(&own->step);
        for (size_t k = 0; k < i && own->shape == PLIM_STEP_NO_SHAPE; k++)
            if (fit->recordings[k].shape != PLIM_STEP_NO_SHAPE &&
                plim_step_are_alike(&fit->recordings[k].step, &own->step))
                own->shape = fit->recordings[k].shape;
        if (own->shape == PLIM_STEP_NO_SHAPE)
            own->shape = n_shapes++;
    }
    return n_shapes;
}

/* The recordings from which a shape is fitted: those that are not left out, or all where it has no others. */
static size_t list_recordings(const struct plim_step_fit *fit, size_t shape, const struct plim_step_recording **list)
{
    size_t n = 0;
    for (int takes_left_out = 0; takes_left_out < 2 && n == 0; takes_left_out++)
        for (size_t i = 0; i < fit->n_recordings; i++)
            if (fit->recordings[i].shape == shape && (takes_left_out || !fit->recordings[i].is_left_out))
                list[n++] = &fit->recordings[i];
    return n;
}

/* --- tracks --- */

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

static void agree(struct plim_step_track *track, const struct plim_step_recording *const *list, size_t n, size_t at)
{
    for (uint32_t i = 0; i < track->n_allocations; i++) {
        struct plim_step_allocation *own = &track->allocations[i];
        bool is_pillar_disputed = false, is_phase_disputed = false;
        for (size_t k = 1; k < n; k++) {
            const struct plim_step_allocation *other = &list[k]->step.shapes[0].tracks[at].allocations[i];
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

static bool join_track(struct plim_step_track *track, const struct plim_step_recording *const *list, size_t n,
                       size_t at)
{
    const struct plim_step_track *base = &list[0]->step.shapes[0].tracks[at];
    bool is_done = true;
    *track = *base;
    track->has_retries = copy_of(base->has_retries, base->n_pools, sizeof *base->has_retries, &is_done);
    track->events = copy_of(base->events, base->n_events, sizeof *base->events, &is_done);
    track->allocations = copy_of(base->allocations, base->n_allocations, sizeof *base->allocations, &is_done);
    track->marks = copy_of(base->marks, base->n_marks, sizeof *base->marks, &is_done);
    track->recorded = plim_alloc(n, sizeof *track->recorded);
    if (!is_done || !track->recorded)
        return false;
    agree(track, list, n, at);
    join_figures(track, list, n, at);
    return true;
}

/* --- sites --- */

/* The number of a text of another step in this one; it is added where `is_new`. */
static bool add_text(struct plim_step *step, const char *text, uint32_t *ret_offset)
{
    const size_t length = strlen(text) + 1, start = step->text_bytes ? step->text_bytes : 1;
    *ret_offset = 0;
    if (length == 1)
        return true;
    if (start + length > UINT32_MAX)
        return false;
    char *grown = plim_realloc(step->text, start + length, 1);
    if (!grown)
        return false;
    grown[0] = '\0';
    memcpy(grown + start, text, length);
    step->text = grown;
    step->text_bytes = start + length;
    *ret_offset = (uint32_t)start;
    return true;
}

static bool intern_text(struct plim_step *step, const char *text, uint32_t *ret_offset)
{
    for (size_t i = step->n_sites; i-- > 0;) {
        const uint32_t words[] = { step->sites[i].file, step->sites[i].function };
        for (size_t k = 0; k < 2; k++)
            if (!strcmp(plim_step_text(step, words[k]), text)) {
                *ret_offset = words[k];
                return true;
            }
    }
    return add_text(step, text, ret_offset);
}

/* The number of a site of another step; UINT32_MAX: out of memory. */
static uint32_t intern_site(struct plim_step *step, const struct plim_step *other, const struct plim_step_site *site)
{
    const char *file = plim_step_text(other, site->file), *function = plim_step_text(other, site->function);
    struct plim_step_site own = { .line = site->line };
    for (size_t i = 0; i < step->n_sites; i++)
        if (step->sites[i].line == site->line && !strcmp(plim_step_text(step, step->sites[i].function), function) &&
            !strcmp(plim_step_text(step, step->sites[i].file), file))
            return (uint32_t)i;
    if (!intern_text(step, file, &own.file) || !intern_text(step, function, &own.function))
        return UINT32_MAX;
    struct plim_step_site *sites = plim_realloc(step->sites, step->n_sites + 1, sizeof *sites);
    if (!sites)
        return UINT32_MAX;
    step->sites = sites;
    sites[step->n_sites] = own;
    return (uint32_t)step->n_sites++;
}

static bool join_sites(struct plim_step *step, struct plim_step_shape *shape, const struct plim_step *base)
{
    uint32_t *number = plim_alloc(base->n_sites + 1, sizeof *number);
    bool is_done = number != NULL;
    for (size_t i = 0; is_done && i < base->n_sites; i++) {
        number[i] = intern_site(step, base, &base->sites[i]);
        is_done = number[i] != UINT32_MAX;
    }
    for (size_t i = 0; is_done && i < shape->n_tracks; i++)
        for (uint32_t k = 0; k < shape->tracks[i].n_allocations; k++) {
            uint32_t *site = &shape->tracks[i].allocations[k].site;
            *site = *site < base->n_sites ? number[*site] : PLIM_STEP_NO_SITE;
        }
    plim_free(number);
    return is_done;
}

/* --- the step --- */

static int join_shape(const struct plim_step_fit *fit, const struct plim_step_recording *const *list, size_t n,
                      struct plim_step *step, struct plim_error *reterr)
{
    struct plim_step_shape *shape = &step->shapes[step->n_shapes++];
    const struct plim_step *base = &list[0]->step, *steps[PLIM_STEP_MAX_POINTS];
    const size_t n_tracks = base->shapes[0].n_tracks;
    shape->left_out_allocated_error = shape->left_out_reserved_error = -1;
    shape->points = plim_alloc(n, sizeof *shape->points);
    shape->tracks = plim_alloc(n_tracks, sizeof *shape->tracks);
    if (!shape->points || !shape->tracks)
        return out_of_memory(reterr);
    shape->n_points = n;
    for (size_t i = 0; i < n; i++) {
        shape->points[i] = list[i]->point;
        steps[i] = &list[i]->step;
    }
    while (shape->n_tracks < n_tracks) {
        const size_t at = shape->n_tracks++;
        if (!join_track(&shape->tracks[at], list, n, at))
            return out_of_memory(reterr);
    }
    if (!join_sites(step, shape, base))
        return out_of_memory(reterr);
    return plim_step_fit_sizes(steps, fit->n_variables, shape, reterr);
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
    const size_t n_shapes = plim_step_group(fit);
    if (n_shapes == 0)
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "no recording has a whole step of PyTorch's memory");
    const struct plim_step_recording *list[PLIM_STEP_MAX_POINTS];
    struct plim_step step = { .shapes = plim_alloc(n_shapes, sizeof *step.shapes) };
    int result = step.shapes ? 0 : out_of_memory(reterr);
    for (size_t i = 0; result == 0 && i < n_shapes; i++) {
        const size_t n = list_recordings(fit, i, list);
        if (i == 0)
            describe(fit, &list[0]->step, &step);
        result = join_shape(fit, list, n, &step, reterr);
    }
    if (result == 0 && !add_text(&step, fit->command ? fit->command : "", &step.command))
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

/* SPDX-License-Identifier: MIT */
#include "step/fit/group.h"

#include "base/mem.h"
#include "step/fit/align.h"
#include "step/fit/sites.h"

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

/* The recording before this one that is alike; NULL: none. */
static const struct plim_step_recording *find_alike(const struct plim_step_fit *fit, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (fit->recordings[i].shape != PLIM_STEP_NO_SHAPE &&
            plim_step_are_alike(&fit->recordings[i].step, &fit->recordings[number].step))
            return &fit->recordings[i];
    return NULL;
}

/* Into the first braid that takes it, else into a new one. False: out of memory. */
static bool add(struct plim_step_groups *groups, struct plim_step_recording *recording, const uint32_t *sites)
{
    const struct plim_step *step = &recording->step;
    for (size_t i = 0; i <= groups->n; i++) {
        const enum plim_step_braided braided =
            plim_step_braid_add(&groups->braids[i], &step->shapes[0], sites, step->n_sites);
        if (braided == PLIM_STEP_TOO_DIFFERENT)
            continue;
        recording->shape = i;
        recording->strand = braided == PLIM_STEP_BRAIDED ? groups->braids[i].n_strands - 1 : 0;
        groups->n += braided == PLIM_STEP_BRAIDED && i == groups->n;
        return braided == PLIM_STEP_BRAIDED;
    }
    return false;
}

/* folded: NULL, or the recordings without the turns of their loops. */
static bool group_all(struct plim_step_fit *fit, struct plim_step_recording *folded, struct plim_step *sites,
                      struct plim_step_groups *groups)
{
    struct plim_step_fit of = *fit;
    of.recordings = folded ? folded : fit->recordings;
    for (size_t i = 0; i < fit->n_recordings; i++) {
        struct plim_step_recording *own = &of.recordings[i];
        const bool is_used = own->shape != PLIM_STEP_NO_SHAPE;
        const struct plim_step_recording *alike = is_used ? find_alike(&of, i) : NULL;
        own->strand = alike ? alike->strand : 0;
        own->shape = alike ? alike->shape : PLIM_STEP_NO_SHAPE;
        if (is_used) {
            uint32_t *numbers = plim_step_add_sites(sites, &own->step);
            const bool is_added = numbers && (alike || add(groups, own, numbers));
            plim_free(numbers);
            if (!is_added)
                return false;
        }
        fit->recordings[i].shape = own->shape;
        fit->recordings[i].strand = own->strand;
    }
    return true;
}

int plim_step_groups_make(struct plim_step_fit *fit, struct plim_step *sites, struct plim_step_groups *ret_groups,
                          struct plim_error *reterr)
{
    struct plim_step_groups groups = { .braids = plim_alloc(fit->n_recordings + 1, sizeof *groups.braids) };
    bool is_done = groups.braids != NULL;
    for (size_t i = 0; i < fit->n_recordings; i++) {
        struct plim_step_recording *own = &fit->recordings[i];
        own->shape = is_whole(&own->step) ? 0 : PLIM_STEP_NO_SHAPE;
        if (own->shape != PLIM_STEP_NO_SHAPE)
            plim_step_sort_returns(&own->step);
    }
    const int result = is_done ? plim_step_fold(fit, &groups.folds, reterr) : 0;
    if (result < 0) {
        plim_step_groups_done(&groups);
        return result;
    }
    is_done = is_done && group_all(fit, groups.folds.recordings, sites, &groups);
    *ret_groups = groups;
    if (is_done)
        return 0;
    plim_step_groups_done(ret_groups);
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

void plim_step_groups_done(struct plim_step_groups *groups)
{
    for (size_t i = 0; groups->braids && i < groups->n; i++)
        plim_step_braid_done(&groups->braids[i]);
    plim_free(groups->braids);
    plim_step_folds_done(&groups->folds);
    *groups = (struct plim_step_groups){ 0 };
}

int plim_step_group(struct plim_step_fit *fit, struct plim_error *reterr)
{
    struct plim_step sites = { 0 };
    struct plim_step_groups groups = { 0 };
    const int result = plim_step_groups_make(fit, &sites, &groups, reterr);
    if (result == 0)
        plim_step_groups_done(&groups);
    plim_step_done(&sites);
    return result;
}

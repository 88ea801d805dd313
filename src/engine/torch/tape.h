/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_TAPE_H
#define PLIMSOLL_ENGINE_TORCH_TAPE_H

/* The requests of one track of a step, with their sizes at one point: what the allocator replays. */

#include "engine/torch/allocator.h"
#include "step/step.h"

struct plim_torch_tape {
    const struct plim_step *step;
    const struct plim_step_shape *shape;
    const struct plim_step_track *track;
    struct plim_torch_event *events; /* those of the track, one for one */
};

/* The settings and the memory that a replay has. */
struct plim_torch_conditions {
    struct plim_torch_settings settings;
    uint64_t capacity_bytes; /* for segments; UINT64_MAX: no end */
    uint64_t card_bytes;     /* of which settings.fraction is a part; 0: capacity_bytes */
};

/* The shape and its track must outlive the tape. */
PLIM_MUST_CHECK int plim_torch_tape_make(const struct plim_step *step, const struct plim_step_shape *shape,
                                         const struct plim_step_track *track, const struct plim_step_point *point,
                                         struct plim_torch_tape *ret_tape, struct plim_error *reterr);
void plim_torch_tape_done(struct plim_torch_tape *tape);

/* An allocator for the tape's events, which ends at the first request that fails. */
PLIM_MUST_CHECK int plim_torch_tape_open(const struct plim_torch_tape *tape,
                                         const struct plim_torch_conditions *conditions,
                                         struct plim_torch_allocator **ret_allocator, struct plim_error *reterr);

/* The allocator's result up to the first request that fails, where the program ends, or up to the end. */
PLIM_MUST_CHECK int plim_torch_tape_replay(const struct plim_torch_tape *tape,
                                           const struct plim_torch_conditions *conditions,
                                           struct plim_torch_result *ret_result, struct plim_error *reterr);

/*
 * The least memory for segments with which no request fails, found by replays in steps of 2 MiB; and the result there.
 * UINT64_MAX: one fails with any, as the memory fraction does not allow it.
 */
PLIM_MUST_CHECK int plim_torch_tape_least(const struct plim_torch_tape *tape,
                                          const struct plim_torch_conditions *conditions, uint64_t *ret_capacity_bytes,
                                          struct plim_torch_result *ret_result, struct plim_error *reterr);

#endif

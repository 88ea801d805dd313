/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_STEP_H
#define PLIMSOLL_ENGINE_TORCH_STEP_H

/*
 * A step at a point, replayed through PyTorch's allocator: the peaks, the request that fails, and what is held at the
 * moments that matter.
 */

#include "engine/torch/moment.h"
#include "step/choose.h"

/* One track. Moments are after their event; those of an OOM before the request that fails. */
struct plim_torch_run {
    struct plim_torch_result result;
    struct plim_torch_moment binding; /* when most is reserved */
    struct plim_torch_moment fullest; /* when most is allocated */
    struct plim_torch_moment oom;     /* with result.n_ooms */
    uint64_t oom_bytes;               /* that were asked for */
};

PLIM_MUST_CHECK int plim_torch_run_make(const struct plim_torch_tape *tape,
                                        const struct plim_torch_conditions *conditions, struct plim_torch_run *ret_run,
                                        struct plim_error *reterr);

/* All tracks, each on a card of its own, all under the same conditions. */
struct plim_torch_evaluation {
    struct plim_step_choice choice;
    size_t track; /* the one that decides: the first that runs out of memory, else the one that reserves most */
    struct plim_torch_run run;                          /* of that one */
    uint64_t allocated_peak_bytes, reserved_peak_bytes; /* the largest of a track */
};

PLIM_MUST_CHECK int plim_torch_step_evaluate(const struct plim_step *step, const struct plim_step_point *point,
                                             const struct plim_torch_conditions *conditions,
                                             struct plim_torch_evaluation *ret_evaluation, struct plim_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_TURNS_LOOPS_H
#define PLIMSOLL_STEP_FIT_TURNS_LOOPS_H

#include "step/fit/braid.h"
#include "step/fit/turns/fold.h"

/*
 * The loops of a shape that was made of folded recordings, with the sizes of their turns, and the sizes of other
 * allocations that stop to grow where a loop begins to have several. The recordings are those of the shape's points;
 * `first` is the number of the first of them in the folds.
 */
PLIM_MUST_CHECK int plim_step_fit_loops(const struct plim_step_folds *folds, size_t first,
                                        const struct plim_step_braid *braid,
                                        const struct plim_step_recording *const *recordings,
                                        struct plim_step_shape *shape, struct plim_error *reterr);

#endif

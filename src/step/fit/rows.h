/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_ROWS_H
#define PLIMSOLL_STEP_FIT_ROWS_H

#include "step/fit/braid.h"
#include "step/fit/fit.h"

/*
 * Fill in the sizes and terms of a shape, and the size of each of its allocations, from what recordings of it have at
 * the shape's points. The recordings are those of the points, in their order; the shape has the tracks of the braid.
 */
PLIM_MUST_CHECK int plim_step_fit_sizes(const struct plim_step_fit *fit, const struct plim_step_braid *braid,
                                        const struct plim_step_recording *const *recordings,
                                        struct plim_step_shape *shape, struct plim_error *reterr);

#endif

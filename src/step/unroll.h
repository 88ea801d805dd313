/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_UNROLL_H
#define PLIMSOLL_STEP_UNROLL_H

/*
 * The loops of a shape as the plain events that they are at a point. What a repetition gives back may be of the one
 * before it, or of the turn before the first; what follows the loop knows the allocations of the last repetition, or of
 * the only turn.
 */

#include "base/error.h"
#include "step/step.h"

/*
 * The shape itself if it has no loops; else *ret_own, whose points, sizes and terms are those of the shape.
 * PLIM_E_TOO_BIG: more than PLIM_MAX_STEP_TURNED_EVENTS. PLIM_E_CORRUPT: with so many turns something is given back
 * that is not held.
 */
PLIM_MUST_CHECK int plim_step_unroll(const struct plim_step_shape *shape, const struct plim_step_point *point,
                                     struct plim_step_shape **ret_own, struct plim_error *reterr);
void plim_step_unrolled_free(struct plim_step_shape *own);

static inline const struct plim_step_shape *plim_step_unrolled(const struct plim_step_shape *shape,
                                                               const struct plim_step_shape *own)
{
    return own ? own : shape;
}

#endif

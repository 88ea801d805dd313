/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_VARY_LEFT_OUT_H
#define PLIMSOLL_REHEARSE_VARY_LEFT_OUT_H

/*
 * How well a step meets recordings that it was not made from: each shape is replayed at their points, and the peaks of
 * each track are put beside those that PyTorch had. A shape for which nothing was left out is fitted once more without
 * the recording that is farthest from its first, if two others remain.
 */

#include "step/fit/fit.h"

/* Enter left_out_*_error in all shapes of the step that was made of the recordings. */
PLIM_MUST_CHECK int plim_vary_left_out(struct plim_step_fit *fit, struct plim_step *step, struct plim_error *reterr);

#endif

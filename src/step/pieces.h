/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_PIECES_H
#define PLIMSOLL_STEP_PIECES_H

/*
 * Lines of a program that work in pieces (struct plim_step_site). What they allocate grows with the variables up to the
 * size of a piece and no further, and recordings that have one piece only show nothing of that.
 */

#include "base/error.h"
#include "step/step.h"

/*
 * PLIM_E_UNSUPPORTED where a size of the shape would be larger at the point than in any recording, though its line
 * works in pieces, unless all of it is still one piece there; and where a loop has one turn, though it has several in
 * all recordings. The hint has the values to record.
 */
PLIM_MUST_CHECK int plim_step_check_pieces(const struct plim_step *step, const struct plim_step_shape *shape,
                                           const struct plim_step_point *point, struct plim_error *reterr);

#endif

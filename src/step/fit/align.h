/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_ALIGN_H
#define PLIMSOLL_STEP_FIT_ALIGN_H

/*
 * Whether two recordings are of one shape: the same tracks with the same events in the same order, for allocations of
 * the same lines, with the same marks. Sizes do not matter, nor do pillars.
 *
 * Returns that follow each other without a request between them count as one: Python's collector gives back what it
 * finds in an order of its own. The allocator is in the same state after them in any order, since free neighbours
 * become one block and nothing is taken meanwhile. plim_step_sort_returns() brings them into one order.
 */

#include "step/step.h"

/* In each track: returns between two other events, or marks, with the last taken first. */
void plim_step_sort_returns(struct plim_step *step);

/* Recordings of which the returns are sorted, each with one shape. */
bool plim_step_are_alike(const struct plim_step *a, const struct plim_step *b);

#endif

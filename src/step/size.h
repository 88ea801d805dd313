/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_SIZE_H
#define PLIMSOLL_STEP_SIZE_H

#include "step/step.h"

/*
 * The bytes of size number `size` of a shape at a point: rounded down, or up where it has a multiple; 0 where the
 * polynomial is negative, UINT64_MAX where it is beyond all numbers. A size that the shape does not have is 0.
 */
uint64_t plim_step_size_bytes(const struct plim_step_shape *shape, uint32_t size, const struct plim_step_point *point);

/* How many pieces the whole has, 1 at least; of a size without pieces 1. UINT64_MAX where it is beyond all numbers. */
uint64_t plim_step_size_pieces(const struct plim_step_shape *shape, uint32_t size, const struct plim_step_point *point);

#endif

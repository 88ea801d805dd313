/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_SOLVE_H
#define PLIMSOLL_STEP_FIT_SOLVE_H

/* Small systems of linear equations, one equation for each point, in exact arithmetic. */

#include "step/fit/wide.h"

#include <stddef.h>

enum { PLIM_STEP_MAX_UNKNOWNS = 3 };

/* Unknown i is over[i] / under. */
struct plim_step_solution {
    plim_wide over[PLIM_STEP_MAX_UNKNOWNS], under; /* under > 0 */
};

/*
 * Whether one set of unknowns, none of them 0, makes sum of column[k][i] x unknown k = bytes[i] for all points i. False
 * also where the columns leave it open, or the numbers are too large to tell.
 */
bool plim_step_solve(const plim_wide *const *columns, size_t n_unknowns, const uint64_t *bytes, size_t n_points,
                     struct plim_step_solution *ret_solution);

#endif

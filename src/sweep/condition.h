/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_CONDITION_H
#define PLIMSOLL_SWEEP_CONDITION_H

/* Which rows of the grid are left out: "skip = B=4 S>1024" those where both hold. */

#include "sweep/scan.h"
#include "sweep/sweep.h"

/* Read the conditions up to the end of the statement. */
int plim_sweep_conditions(struct plim_sweep_scan *scan, struct plim_sweep *sweep);

/* Whether a row with these values, one for each variable, is left out. */
bool plim_sweep_is_skipped(const struct plim_sweep *sweep, const char *const *values);

#endif

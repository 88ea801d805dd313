/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_VALUES_H
#define PLIMSOLL_SWEEP_VALUES_H

/* The values of variables in the text of a sweep: "1, 2, 4", "128..1024 step 128", "RTX 4090, B200", "1 512, 2 512". */

#include "sweep/scan.h"
#include "sweep/sweep.h"

/* Read the list up to the end of the statement. */
int plim_sweep_values(struct plim_sweep_scan *scan, struct plim_arena *arena, struct plim_sweep_group *group);

/* A whole number that begins here; false: none does. */
bool plim_sweep_number(struct plim_sweep_scan *scan, uint64_t *ret_number);

/* True when both texts are decimal numbers, with their difference in *ret_difference. */
bool plim_sweep_are_numbers(const char *a, const char *b, double *ret_difference);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_WORK_AREA_H
#define PLIMSOLL_STEP_FIT_WORK_AREA_H

/*
 * The form of an allocation that a program makes for some sizes only: a work area of PyTorch's reductions, a copy, a
 * part of a sort. It has a size from some value of what the program grows with on, and often grows in steps.
 */

#include "step/fit/form.h"

/* The sizes of one allocation: bytes[i] at points[i], 0 where it was not made; it was made at one of them at least. */
struct plim_step_work_area {
    const struct plim_step_point *points;
    const uint64_t *bytes;
    const uint64_t *semaphore_bytes; /* of the allocation after it, where both are made at the same points; else NULL */
    size_t n_points;
    uint32_t n_variables;
    struct plim_step_form usual; /* the formula with which most of the program grows: whole numbers without a divisor */
    uint32_t n_threads;          /* that the card can have at work at once; 0: unknown */
};

/* Where one is made at all points: the form of a reduction, if it is one. */
bool plim_step_work_area_find_reduction(const struct plim_step_work_area *area, struct plim_step_form *ret_form);

PLIM_MUST_CHECK int plim_step_work_area_find(const struct plim_step_work_area *area, struct plim_step_form *ret_form,
                                             struct plim_error *reterr);

#endif

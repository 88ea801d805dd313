/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_FORM_H
#define PLIMSOLL_STEP_FIT_FORM_H

/*
 * The polynomial behind sizes that were recorded at several points: the simplest that has every one of them to the
 * byte, in exact arithmetic. Forms by increasing complexity: one product of variables; two products, or one in which a
 * variable is rounded up to a multiple of a power of two (kernels that work in tiles); three products, or two with a
 * rounding.
 *
 * A form is exact when it is the only one of its complexity that has all sizes, and there are more points than it has
 * numbers of its own: through three points there is always a parabola. Where nothing meets all sizes, the form is the
 * nearest that is nowhere below them.
 */

#include "base/error.h"
#include "step/step.h"

enum { PLIM_STEP_FORM_TERMS = 3, PLIM_STEP_MAX_POINTS = 256 };

struct plim_step_form {
    uint32_t n_terms, denominator;
    struct plim_step_term term[PLIM_STEP_FORM_TERMS];
    uint8_t rounding[PLIM_STEP_MAX_VARIABLES];        /* a variable counts as rounded up to a multiple of 2^rounding */
    uint64_t least_bytes, multiple_bytes, most_bytes; /* as those of a size, see step.h */
    bool is_rest;
    bool meets_all; /* recorded sizes, to the byte */
    bool is_exact;
};

struct plim_step_former;

/* The points are those of the sizes that will be asked for, at most PLIM_STEP_MAX_POINTS. They are copied. */
PLIM_MUST_CHECK int plim_step_former_open(const struct plim_step_point *points, size_t n_points, uint32_t n_variables,
                                          struct plim_step_former **ret_former, struct plim_error *reterr);

/* bytes: [n_points]. There always is a form. */
void plim_step_former_find(const struct plim_step_former *former, const uint64_t *bytes,
                           struct plim_step_form *ret_form);

/* The size of a shape that has the form's terms from this one on. */
struct plim_step_size plim_step_form_size(const struct plim_step_form *form, uint32_t first_term);

/* As plim_step_size_bytes(). */
uint64_t plim_step_form_bytes(const struct plim_step_form *form, const struct plim_step_point *point);

void plim_step_former_free(struct plim_step_former *former);

#endif

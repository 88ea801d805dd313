/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_FIT_H
#define PLIMSOLL_STEP_FIT_FIT_H

/* From recordings of one program at several values of its variables to one step with sizes as polynomials. */

#include "base/error.h"
#include "step/step.h"

#define PLIM_STEP_NO_SHAPE SIZE_MAX

/* A recording: a step of one shape and one point, and the values with which the program ran. */
struct plim_step_recording {
    struct plim_step step;
    struct plim_step_point point;
    bool is_left_out; /* of the fit, if its shape has another recording */
    size_t shape;     /* out: of the step; PLIM_STEP_NO_SHAPE: it is of no use (no tracks, or memory ran out) */
    size_t strand;    /* out: of the shape (braid.h) */
    bool is_folded;   /* its events are a copy (fold.h) */
};

struct plim_step_fit {
    struct plim_step_recording *recordings;
    size_t n_recordings;
    struct plim_step_variable variables[PLIM_STEP_MAX_VARIABLES];
    uint32_t n_variables;
    const char *command; /* as the step will say it, with {B} for a variable */
    uint32_t n_threads;  /* that the card of the recordings can have at work at once; 0: unknown */
};

/* How many sizes of a shape's allocations have a form of a kind. */
struct plim_step_fit_counts {
    size_t n_exact, n_near; /* of the step's sizes: exact, and not */
    size_t n_allocations, n_near_allocations;
};

/* Enter the shape of each recording, numbered from 0 in the order of their first recordings. */
PLIM_MUST_CHECK int plim_step_group(struct plim_step_fit *fit, struct plim_error *reterr);

/*
 * The recordings stay those of the caller, their returns sorted (align.h). Errors of what was left out are not known
 * here: a caller that can replay enters them.
 */
PLIM_MUST_CHECK int plim_step_fit(struct plim_step_fit *fit, struct plim_step *ret_step, struct plim_error *reterr);

void plim_step_fit_count(const struct plim_step_shape *shape, struct plim_step_fit_counts *ret_counts);

#endif

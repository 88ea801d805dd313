/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_GROUP_H
#define PLIMSOLL_STEP_FIT_GROUP_H

/*
 * Which recordings are of one shape: those that are alike (align.h) but for the turns of loops (fold.h), and orders
 * that make one braid (braid.h).
 */

#include "step/fit/braid.h"
#include "step/fit/fit.h"
#include "step/fit/turns/fold.h"

struct plim_step_groups {
    struct plim_step_braid *braids; /* [shape] */
    size_t n;
    struct plim_step_folds folds; /* with these recordings the braids are made, if there are any */
};

/* Enters shape and strand of each recording, and the sites of all in the tables of a step. */
PLIM_MUST_CHECK int plim_step_groups_make(struct plim_step_fit *fit, struct plim_step *sites,
                                          struct plim_step_groups *ret_groups, struct plim_error *reterr);
void plim_step_groups_done(struct plim_step_groups *groups);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_TURNS_FOLD_H
#define PLIMSOLL_STEP_FIT_TURNS_FOLD_H

/*
 * Recordings with their loops as if each had two turns: of more repetitions the last stays, and where there is none,
 * one is put in that takes nothing. What they differ in then are sizes, and what braids are made for.
 */

#include "step/fit/turns/sizes.h"

struct plim_step_folds {
    struct plim_step_recording *recordings; /* as those of the fit, their tracks folded; NULL: there are no loops */
    struct plim_step_turns_list list;       /* places: in the folded tracks */
    struct plim_step_turn_sizes *sizes;     /* [list.n] */
};

/* Of recordings as plim_step_turns_find() wants them. */
PLIM_MUST_CHECK int plim_step_fold(const struct plim_step_fit *fit, struct plim_step_folds *ret_folds,
                                   struct plim_error *reterr);
void plim_step_folds_done(struct plim_step_folds *folds);

#endif

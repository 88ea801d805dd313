/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_TURNS_SIZES_H
#define PLIMSOLL_STEP_FIT_TURNS_SIZES_H

/*
 * What the turns of a loop take. Either a size is the same in all turns of a recording, or it is a piece: the same in
 * all turns of all recordings but in the last one, which has the rest. Then the whole is what all turns have together.
 */

#include "step/fit/form.h"
#include "step/fit/turns/turns.h"

/* Forms of no terms: the allocation has the size that it would have without a loop. */
struct plim_step_turn_sizes {
    struct plim_step_form *first;        /* [n_takes]: of the turn before the first repetition */
    struct plim_step_form *other, *last; /* [n_takes]: of the last repetition, and of the others */
    struct plim_step_form *rest;         /* [n_rest_takes]: of what follows the last repetition */
    struct plim_step_form turns;         /* its pieces are as many as turns */
};

/* *ret_is_known: false, and nothing to free, where a size is neither, or the number of turns follows no formula. */
PLIM_MUST_CHECK int plim_step_turn_sizes_find(const struct plim_step_fit *fit, const struct plim_step_turns_list *list,
                                              size_t number, struct plim_step_turn_sizes *ret_sizes, bool *ret_is_known,
                                              struct plim_error *reterr);
void plim_step_turn_sizes_done(struct plim_step_turn_sizes *sizes);

/*
 * What grows with a loop's whole until that is one piece, and no further, outside of the loop: bytes[i] at points[i].
 * False: it does not.
 */
bool plim_step_turn_sizes_cap(const struct plim_step_form *turns, const struct plim_step_point *points,
                              const uint64_t *bytes, size_t n, struct plim_step_form *ret_form);

/* The pieces of a form's whole. */
uint64_t plim_step_form_pieces(const struct plim_step_form *form, const struct plim_step_point *point);

#endif

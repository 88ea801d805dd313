/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_TURNS_TURNS_H
#define PLIMSOLL_STEP_FIT_TURNS_TURNS_H

/*
 * Loops that recordings go through a different number of times: a block of events that one recording has at least twice
 * in a row, each time with the same lines and the same references back, where another one has it less often. It is part
 * of a phase, or whole phases: forward and backward of the batches for one step of an optimizer.
 */

#include "base/error.h"
#include "step/fit/fit.h"

enum { PLIM_STEP_MAX_TURNS = 256 };

/* Where a recording has the loop. */
struct plim_step_turns_place {
    uint32_t first_event, first_id, first_mark; /* of the first repetition, or where it would be */
    uint32_t n;                                 /* repetitions: one less than turns */
};

struct plim_step_turns {
    size_t track;
    uint32_t n_events, n_takes; /* of a repetition */
    /* The loop goes on behind the last repetition, with the first events of one: they are of the last turn. */
    uint32_t n_rest_events, n_rest_takes;
    uint32_t n_marks; /* of a repetition; a loop over whole phases, of which nothing before is a turn like the others */
    bool *is_carried; /* [n_takes]: given back in the next turn, or after the loop */
    struct plim_step_turns_place *places; /* [recording] */
};

struct plim_step_turns_list {
    struct plim_step_turns *turns; /* by track and place */
    size_t n;
    size_t longest;   /* the recording in which they were found */
    uint32_t **sites; /* [recording]: numbers that the sites of all have together */
    size_t n_recordings;
};

/* In recordings whose returns are sorted and whose shape is not PLIM_STEP_NO_SHAPE. None where these differ otherwise.
 */
PLIM_MUST_CHECK int plim_step_turns_find(const struct plim_step_fit *fit, struct plim_step_turns_list *ret_list,
                                         struct plim_error *reterr);
void plim_step_turns_done(struct plim_step_turns *turns);
void plim_step_turns_list_done(struct plim_step_turns_list *list);

#endif

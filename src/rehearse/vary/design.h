/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_VARY_DESIGN_H
#define PLIMSOLL_REHEARSE_VARY_DESIGN_H

/*
 * Which recordings a step with variables needs. Not all combinations: the first value of each variable, each variable
 * alone through its values, one point in which two of them change together for each pair, and the last value of all,
 * which is left out of a first fit and says how good that is. Where recordings turn out to be of several shapes, each
 * shape needs the same of its own.
 */

#include "base/mem.h"
#include "plimsoll/error.h"
#include "step/step.h"

enum { PLIM_VARY_MAX_VALUES = 16, PLIM_VARY_MAX_RECORDINGS = 96 };

struct plim_vary {
    uint32_t n_variables;
    struct plim_step_variable variable[PLIM_STEP_MAX_VARIABLES];
    uint32_t n_values[PLIM_STEP_MAX_VARIABLES];
    uint64_t value[PLIM_STEP_MAX_VARIABLES][PLIM_VARY_MAX_VALUES]; /* in the order of the command line */
};

/* Add a variable: "B=1,2,3". */
int plim_vary_parse(const char *text, struct plim_vary *vary, struct plim_error *reterr);

/* The first variable that has no place in the command, {B} for B; NULL: all have one. */
const char *plim_vary_without_place(const struct plim_vary *vary, char *const *arguments);

/* The command with the values of a point; NULL: the arena is full. */
char **plim_vary_arguments(struct plim_arena *arena, const struct plim_vary *vary, char *const *arguments,
                           const struct plim_step_point *point);

enum plim_vary_state { PLIM_VARY_PLANNED, PLIM_VARY_RECORDED, PLIM_VARY_FAILED };

struct plim_vary_point {
    struct plim_step_point point;
    enum plim_vary_state state;
    bool is_left_out;
    size_t shape; /* of what was recorded: from 0, in the order of their first recordings */
};

struct plim_vary_plan {
    size_t n, n_first; /* of the design, before shapes were known */
    struct plim_vary_point points[PLIM_VARY_MAX_RECORDINGS];
};

/* False: more recordings than there may be. */
bool plim_vary_design(const struct plim_vary *vary, struct plim_vary_plan *ret_plan);

/* Add a point that a shape still needs, once all others are recorded or failed; false: none, or enough were added. */
bool plim_vary_extend(const struct plim_vary *vary, struct plim_vary_plan *plan);

/* How many values of a variable the recordings of a shape have. */
uint32_t plim_vary_count_values(const struct plim_vary *vary, const struct plim_vary_plan *plan, size_t shape,
                                uint32_t variable);

#endif

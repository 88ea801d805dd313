/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_SWEEP_H
#define PLIMSOLL_SWEEP_SWEEP_H

/*
 * A sweep: a command that is run for each row of a table of values, as a small text states it.
 *
 *     # memory by batch and length
 *     B = 1, 2, 4
 *     S = 512..2048 step 512
 *     skip = B=4 S>1024
 *     draw = 8 seed 7
 *     columns = peak_bytes, verdict
 *     run = plimsoll rehearse --card "RTX 4090" -- python train.py --batch {B} --seq {S}
 *
 * A line that begins with a blank goes on with the one before. "B, S = 1 512, 2 512" are variables that change
 * together.
 */

#include "base/mem.h"
#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_SWEEP_MAX_VARIABLES = 32, PLIM_SWEEP_MAX_COLUMNS = 64, PLIM_SWEEP_MAX_CONDITIONS = 64 };

/* Variables that change together. */
struct plim_sweep_group {
    size_t first_variable, n_variables;
    const char **values; /* [n_tuples * n_variables] */
    size_t n_tuples;
};

/* A figure of the documents that the command prints. */
struct plim_sweep_column {
    const char *name;
    const char *path; /* "devices.*.peak_bytes"; NULL: one of those that columns.h knows by name */
};

/* "B*S > 8192": one side of it is a product of variables. */
struct plim_sweep_condition {
    size_t variable[4], n_variables;
    enum plim_sweep_relation {
        PLIM_SWEEP_EQUAL,
        PLIM_SWEEP_NOT_EQUAL,
        PLIM_SWEEP_LESS,
        PLIM_SWEEP_AT_MOST,
        PLIM_SWEEP_MORE,
        PLIM_SWEEP_AT_LEAST
    } relation;
    const char *value;
    bool ends; /* the last of its line: a row is left out when all conditions of a line hold */
};

struct plim_sweep {
    struct plim_arena arena; /* holds all that follows */
    const char *variable[PLIM_SWEEP_MAX_VARIABLES];
    size_t n_variables;
    struct plim_sweep_group group[PLIM_SWEEP_MAX_VARIABLES];
    size_t n_groups;
    struct plim_sweep_column column[PLIM_SWEEP_MAX_COLUMNS];
    size_t n_columns;
    struct plim_sweep_condition condition[PLIM_SWEEP_MAX_CONDITIONS];
    size_t n_conditions;
    const char **words; /* of the command, with {B} in them; the last is NULL */
    size_t n_words;
    uint64_t draw, seed; /* draw 0: all rows */
    uint64_t timeout_s;  /* 0: none */
};

/* Read a text; `name` is that of its file, for errors, which name line and column. */
int plim_sweep_read(const char *text, size_t length, const char *name, struct plim_sweep *ret_sweep,
                    struct plim_error *reterr);

void plim_sweep_done(struct plim_sweep *sweep);

/* The number of the variable with this name; n_variables: there is none. */
size_t plim_sweep_variable(const struct plim_sweep *sweep, const char *name, size_t length);

#endif

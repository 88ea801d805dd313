/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_ROWS_H
#define PLIMSOLL_SWEEP_ROWS_H

/* The rows of a sweep: the grid of its variables, less what is skipped, or those that are drawn of it. */

#include "sweep/sweep.h"

struct plim_sweep_row {
    uint64_t number; /* in the grid */
    uint64_t key;    /* of the command and the values */
};

struct plim_sweep_rows {
    struct plim_sweep_row *row; /* in the order of the grid: the last variable changes fastest */
    size_t n;
};

/* A draw of more rows is a draw of fewer, and others: which are drawn hangs on the seed and their values alone. */
int plim_sweep_rows(const struct plim_sweep *sweep, struct plim_sweep_rows *ret_rows, struct plim_error *reterr);

void plim_sweep_rows_done(struct plim_sweep_rows *rows);

/* The values of a row, one for each variable. */
void plim_sweep_row_values(const struct plim_sweep *sweep, uint64_t number,
                           const char *ret_values[PLIM_SWEEP_MAX_VARIABLES]);

#endif

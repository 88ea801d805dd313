/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_TABLE_H
#define PLIMSOLL_SWEEP_TABLE_H

/*
 * The table of a sweep, a CSV file: a row for each row of the sweep, in its order, whether it has run or not; then rows
 * of older versions of the sweep, which are kept. The file is whole at every moment: a new one takes the place of the
 * old. Who has it open for writing holds it against others.
 */

#include "sweep/columns.h"
#include "sweep/rows.h"

enum plim_sweep_status {
    PLIM_SWEEP_OPEN,   /* has not run: "" */
    PLIM_SWEEP_OK,     /* has an answer */
    PLIM_SWEEP_FAILED, /* has none, for a reason */
    PLIM_SWEEP_STATUS_MAX_
};

const char *plim_sweep_status_name(enum plim_sweep_status status);

struct plim_sweep_table {
    const char *path;
    int fd; /* of the file that is held; -1: none yet */
    struct plim_arena arena;
    const char **name; /* of the columns */
    size_t n_names;
    size_t first_ours;  /* status, exit, seconds, reason, key */
    const char ***cell; /* [n_rows][n_names] */
    enum plim_sweep_status *status;
    size_t n_rows, n_wanted; /* the first n_wanted are those of the sweep */
};

/*
 * Make the table of these rows, with what a file at `path` has of them already; failed rows are open again with
 * `retries`. A file that is no table of these variables is an error, and stays as it is. With `holds` the file is held:
 * another sweep that has it is an error.
 */
int plim_sweep_table_open(struct plim_sweep_table *table, const struct plim_sweep *sweep,
                          const struct plim_sweep_rows *rows, const char *path, bool retries, bool holds,
                          struct plim_error *reterr);

/* The outcome of a row. */
struct plim_sweep_outcome {
    enum plim_sweep_status status;
    int exit_status; /* negative: a signal ended it */
    double seconds;
    const char *reason;
    char (*value)[PLIM_SWEEP_CELL_BYTES]; /* of each column of the sweep */
};
int plim_sweep_table_set(struct plim_sweep_table *table, const struct plim_sweep *sweep, size_t row,
                         const struct plim_sweep_outcome *outcome, struct plim_error *reterr);

/* Write the file, so that it outlasts a loss of power. */
int plim_sweep_table_write(struct plim_sweep_table *table, struct plim_error *reterr);

void plim_sweep_table_done(struct plim_sweep_table *table);

#endif

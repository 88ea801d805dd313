/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_RUN_H
#define PLIMSOLL_SWEEP_RUN_H

/* Run what is open of a table: several rows at a time, as cores and memory allow, until all have run or a signal comes.
 */

#include "sweep/table.h"

/* How far it is; given to `show` when a row starts, when one ends, and now and then. */
struct plim_sweep_progress {
    const struct plim_sweep_table *table;
    size_t n_done, n_failed, n_running, n_left; /* of the rows that this run runs */
    double seconds, seconds_left;               /* negative: unknown */
    size_t last_row;                            /* that ended just now; SIZE_MAX: none did */
};

struct plim_sweep_run {
    const struct plim_sweep *sweep;
    const struct plim_sweep_rows *rows;
    struct plim_sweep_table *table;
    const char *self;   /* path of this program */
    unsigned most_jobs; /* 0: two, when there are cores for them */
    void (*show)(void *context, const struct plim_sweep_progress *progress);
    void *context;
};

/*
 * *ret_signal is the signal that broke it off, or 0. SIGINT, SIGTERM and SIGHUP are taken while it runs: the commands
 * that run are ended, and their rows stay open. The table is written when a row has ended, at most once in a second,
 * and at the end.
 */
int plim_sweep_run(const struct plim_sweep_run *run, int *ret_signal, struct plim_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_CHILD_H
#define PLIMSOLL_SWEEP_CHILD_H

/*
 * The command of one row while it runs, in a process group of its own. What it prints goes to files beside the table:
 * the answer (its standard output), and a log (its standard error, and what a rehearsed program prints).
 */

#include "plimsoll/error.h"
#include "sweep/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PLIM_SWEEP_PATH_BYTES = 4096 };

struct plim_sweep_child {
    pid_t pid; /* 0: none runs */
    size_t row;
    uint64_t start_us;
    uint64_t asked_us;                /* when it was asked to end; 0: it was not */
    bool is_late;                     /* it was asked because it took longer than the sweep allows */
    char path[PLIM_SWEEP_PATH_BYTES]; /* of its files, without the ending: ".json", ".log", ".out" */
};

/* Start it. It gets SIGTERM when this process ends. */
int plim_sweep_child_start(struct plim_sweep_child *child, char *const *arguments, struct plim_error *reterr);

/* Ask it to end, all of its group; the second time it is ended. */
void plim_sweep_child_end(struct plim_sweep_child *child, uint64_t now_us);

/* True when it has ended: with this status, negative for a signal. What it left in its group is ended as well. */
bool plim_sweep_child_has_ended(struct plim_sweep_child *child, int *ret_status);

/* The document that it printed; NULL: none, for this reason. */
json_t *plim_sweep_child_document(const struct plim_sweep_child *child, char ret_reason[PLIM_SWEEP_CELL_BYTES]);

/* The last line that says something: of what a rehearsed program printed, else of the command's errors; "": none. */
void plim_sweep_child_last_line(const struct plim_sweep_child *child, char ret_line[PLIM_SWEEP_CELL_BYTES]);

/* Remove its files; the logs stay with `keeps_logs`. */
void plim_sweep_child_clear(const struct plim_sweep_child *child, bool keeps_logs);

#endif

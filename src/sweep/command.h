/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_COMMAND_H
#define PLIMSOLL_SWEEP_COMMAND_H

/* The command of a sweep: words as a shell splits them, without a shell; {B} stands for a value, {{B}} for itself. */

#include "sweep/scan.h"
#include "sweep/sweep.h"

/* Read the words up to the end of the statement. */
int plim_sweep_command(struct plim_sweep_scan *scan, struct plim_sweep *sweep);

/*
 * The words with the values of a row; NULL: the arena is full. Our own rehearsals and bills answer as JSON, and what
 * a rehearsed program prints goes to `log`, where the command does not say otherwise. "plimsoll" is `self`.
 */
char **plim_sweep_arguments(struct plim_arena *arena, const struct plim_sweep *sweep, const char *const *values,
                            const char *self, const char *log);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_SWEEP_SWEEP_H
#define PLIMSOLL_REPORT_SWEEP_SWEEP_H

/* The answer of `plimsoll sweep`: how many rows have an answer, which have none and why. */

#include "sweep/run.h"

#include <stdio.h>

/* "B=4 S=512: " and the text; over several lines when it is long. */
void plim_report_sweep_row(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_table *table, size_t row,
                           const char *text);

void plim_report_sweep_text(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_table *table);

/* What would run; nothing is started. */
void plim_report_sweep_plan(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_rows *rows,
                            const struct plim_sweep_table *table);

/* plimsoll.sweep/1; false: out of memory, or not written. */
bool plim_report_sweep_json(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_table *table);

#endif

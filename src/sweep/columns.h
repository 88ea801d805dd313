/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_COLUMNS_H
#define PLIMSOLL_SWEEP_COLUMNS_H

/* The figures of a row, out of the JSON that its command printed. */

#include "sweep/sweep.h"

#include <jansson.h>

/* The names that may stand in "columns = ..." without a path. */
bool plim_sweep_column_is_known(const char *name);

/* The columns that each table has: status, exit, seconds, reason, key. */
bool plim_sweep_column_is_ours(const char *name);

enum { PLIM_SWEEP_CELL_BYTES = 256 };

/* The value of a column; "" where the document has none. */
void plim_sweep_column_value(const struct plim_sweep_column *column, const json_t *document,
                             char ret_text[PLIM_SWEEP_CELL_BYTES]);

/*
 * Whether the document is an answer: a bill or a receipt, of a program that ran or had too little memory; else
 * ret_reason says why not. Other documents are answers when that is 0.
 */
bool plim_sweep_is_answer(const json_t *document, int exit_status, char ret_reason[PLIM_SWEEP_CELL_BYTES]);

/* The RAM that the row took, all its processes together; 0: unknown. */
uint64_t plim_sweep_host_bytes(const json_t *document);

#endif

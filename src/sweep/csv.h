/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SWEEP_CSV_H
#define PLIMSOLL_SWEEP_CSV_H

/* CSV as RFC 4180 has it, in memory. */

#include "base/mem.h"
#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plim_csv {
    const char **cell; /* [n_rows * n_columns]; the first row has the names */
    size_t n_columns, n_rows;
};

/* Every row has as many cells as the first. Cells are in the arena. */
int plim_csv_read(struct plim_arena *arena, const char *text, size_t length, struct plim_csv *ret_csv,
                  struct plim_error *reterr);

/* One row, with its line end. */
void plim_csv_write(FILE *out, const char *const *cells, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TOP_CHART_H
#define PLIMSOLL_REPORT_TOP_CHART_H

/* Bars and lines of history, in Unicode blocks or in ASCII. */

#include "report/top/grid.h"

/* A bar over the next n columns: `shares` one behind the other, each with its role, of a whole; the rest is empty. */
struct plim_share {
    int64_t bytes;
    enum plim_role_of_cell role;
    uint32_t sign; /* drawn for it: U+2588 ... */
    char ascii;
};
void plim_chart_bar(struct plim_strip *strip, int n_columns, const struct plim_share *shares, int n_shares,
                    int64_t whole_bytes);

/* A line of history over the next n columns, one point for each, the newest at its end. Points below 0 are unknown. */
void plim_chart_history(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const int64_t *bytes,
                        int n, int64_t whole_bytes);

/* The same over several lines. */
void plim_chart_area(struct plim_grid *grid, int line, int column, int n_lines, int n_columns,
                     enum plim_role_of_cell role, const int64_t *bytes, int n, int64_t whole_bytes);

#endif

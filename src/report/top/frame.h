/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TOP_FRAME_H
#define PLIMSOLL_REPORT_TOP_FRAME_H

/* A frame of `plimsoll top`: cards, processes and what the keys do, in a grid of 40 columns and 10 lines or more. */

#include "report/top/grid.h"
#include "report/top/rows.h"

enum { PLIM_TOP_MIN_LINES = 10, PLIM_TOP_MIN_COLUMNS = 40 };

/* Signals to choose from; the first is the default. */
struct plim_top_signal {
    const char *name, *what;
    int number;
};
enum { PLIM_TOP_SIGNALS_N = 8 };
extern const struct plim_top_signal plim_top_signals[PLIM_TOP_SIGNALS_N];

/* Draws all of the grid. The view is scrolled so that what is selected is seen. */
void plim_top_draw(struct plim_grid *grid, const struct plim_top_machine *machine, struct plim_top_view *view,
                   const struct plim_top_rows *rows);

#endif

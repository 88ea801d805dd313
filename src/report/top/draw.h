/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TOP_DRAW_H
#define PLIMSOLL_REPORT_TOP_DRAW_H

/* The parts of a frame. Each draws into the lines that it is given. */

#include "report/top/grid.h"
#include "report/top/rows.h"

/* --- cards --- */

/* The lines that the cards take when there are so many for all of them. */
int plim_top_cards_lines(const struct plim_top_machine *machine, const struct plim_top_view *view, int n_lines);
void plim_top_draw_cards(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                         const struct plim_top_view *view);

/* --- processes --- */

/* The heading and the rows. Scrolls so that the selected row is seen. */
void plim_top_draw_table(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                         struct plim_top_view *view, const struct plim_top_rows *rows);

/* "memory", "growth" ...: the name of a column in the dialog. */
const char *plim_top_sort_name(enum plim_top_sort sort);

/* --- one process --- */

void plim_top_draw_detail(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                          uint32_t holding);
void plim_top_draw_explain(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                           uint32_t holding);

/* --- in front of the rest --- */

void plim_top_draw_help(struct plim_grid *grid, int line, int n_lines);

/* A box with a list, one line chosen. */
void plim_top_draw_choice(struct plim_grid *grid, const char *title, const char *const *names, uint32_t n,
                          uint32_t chosen);
/* A box with a question, in lines; the last is what the keys do. */
void plim_top_draw_question(struct plim_grid *grid, const char *const *lines, uint32_t n);

#endif

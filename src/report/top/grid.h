/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TOP_GRID_H
#define PLIMSOLL_REPORT_TOP_GRID_H

/*
 * A screen as cells: characters with a role. Frames are drawn into it, and cli/top moves it to a terminal. It cleans
 * what is put into it as report/print.h does: no cell holds a character that a terminal would obey, or that has no
 * glyph. Where a text meets the end of its room it is cut, and the last cell says so.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The meaning of a cell; cli/top gives each a colour, or without colours an attribute. */
enum plim_role_of_cell {
    PLIM_CELL_PLAIN = 0,
    PLIM_CELL_TITLE,
    PLIM_CELL_HEADING,  /* of columns */
    PLIM_CELL_SORTED,   /* the heading that the rows are sorted by */
    PLIM_CELL_SELECTED, /* the row under the cursor */
    PLIM_CELL_TAGGED,
    PLIM_CELL_DIM,
    PLIM_CELL_GOOD,
    PLIM_CELL_WARNING,
    PLIM_CELL_BAD,
    PLIM_CELL_CHART,
    PLIM_CELL_KEY, /* a key in a line of help */
    PLIM_CELL_MAX_
};

/* A character of two columns is followed by a cell whose code is 0. */
struct plim_cell {
    uint32_t code, mark; /* Unicode; mark: one that combines with it, or 0 */
    uint8_t role;        /* enum plim_role_of_cell */
};

enum { PLIM_GRID_MAX_LINES = 300, PLIM_GRID_MAX_COLUMNS = 600 };

struct plim_grid {
    int lines, columns;
    bool is_ascii; /* no character above '~' */
    struct plim_cell *cell;
};

/* Blank; larger than the most is cut. Called again it takes another size. False: out of memory, it is as before. */
bool plim_grid_resize(struct plim_grid *grid, int lines, int columns);
void plim_grid_clear(struct plim_grid *grid);
void plim_grid_done(struct plim_grid *grid);

/* Part of a line: what is put there stays in it. */
struct plim_strip {
    struct plim_grid *grid;
    int line, column, end; /* column moves on with what is put */
    enum plim_role_of_cell role;
};

/* Outside of the grid a strip is empty. */
struct plim_strip plim_strip(struct plim_grid *grid, int line, int column, int n_columns);

/* The text, up to the end of the strip. `role` holds for this text. */
void plim_strip_text(struct plim_strip *strip, enum plim_role_of_cell role, const char *text);
void plim_strip_print(struct plim_strip *strip, enum plim_role_of_cell role, const char *format, ...) PLIM_PRINTF(3, 4);

/* One character, of one column, that this grid can show: `ascii` where it shows no other. */
void plim_strip_sign(struct plim_strip *strip, enum plim_role_of_cell role, uint32_t code, char ascii);

/* Right-aligned in the next n columns, or left-aligned; the strip is behind them then. */
void plim_strip_right(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const char *text);
void plim_strip_left(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const char *text);

/* Without the first so many columns of it. */
void plim_strip_shifted(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const char *text);

/* Give a line another role, from its first column to its last. */
void plim_grid_paint(struct plim_grid *grid, int line, enum plim_role_of_cell role);

/* The columns that a text takes. */
int plim_grid_width(const struct plim_grid *grid, const char *text);

/* In as many lines as it takes, `most` at most, at words where there are any; returns their number. */
int plim_grid_wrap(struct plim_grid *grid, int line, int column, int n_columns, int most, enum plim_role_of_cell role,
                   const char *text);

#endif

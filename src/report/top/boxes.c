/* SPDX-License-Identifier: MIT */
/* What a frame has in front of the rest: help, lists to choose from, questions. */
#include "report/top/draw.h"

#include <string.h>

/* --- help --- */

static const struct {
    const char *keys, *what;
} keys[] = {
    { "Up Down j k", "select a process" },
    { "PgUp PgDn Home End", "move by a page, to the first, to the last" },
    { "Left Right", "move the commands sideways" },
    { "Enter", "its memory beside the bill of its model" },
    { "e", "what is known of it, and what to do" },
    { "F9 K", "send a signal (asks first)" },
    { "Space", "tag, for a signal to several" },
    { "F6 >", "choose the column to sort by" },
    { "+ - I", "smallest first, largest first, turn round" },
    { "F4 /", "show only processes with a text" },
    { "F5 t", "tree of parents and children" },
    { "1 to 9", "show only this card; again: all" },
    { "p z", "pause" },
    { "r", "look again now" },
    { "Esc", "back; takes selection, tags and filter away" },
    { "F1 ? h", "this help" },
    { "F10 q", "quit" },
};

void plim_top_draw_help(struct plim_grid *grid, int line, int n_lines)
{
    const int width = grid->columns < 60 ? 12 : 20;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && (int)i < n_lines; i++) {
        struct plim_strip strip = plim_strip(grid, line + (int)i, 1, grid->columns - 1);
        plim_strip_left(&strip, width, PLIM_CELL_KEY, keys[i].keys);
        strip.column++;
        plim_strip_text(&strip, PLIM_CELL_PLAIN, keys[i].what);
    }
}

/* --- boxes --- */

struct box {
    int line, column, n_lines, n_columns; /* inside of the frame */
};

static void draw_edge(struct plim_grid *grid, const struct box *box, int line, uint32_t left, uint32_t right)
{
    struct plim_strip strip = plim_strip(grid, line, box->column - 2, box->n_columns + 4);
    plim_strip_sign(&strip, PLIM_CELL_PLAIN, left, '+');
    while (strip.column < strip.end - 1)
        plim_strip_sign(&strip, PLIM_CELL_PLAIN, 0x2500, '-');
    plim_strip_sign(&strip, PLIM_CELL_PLAIN, right, '+');
}

/* In the middle of the grid, as large as there is room for. */
static struct box open_box(struct plim_grid *grid, int n_lines, int n_columns)
{
    struct box box = { .n_lines = n_lines < grid->lines - 2 ? n_lines : grid->lines - 2,
                       .n_columns = n_columns < grid->columns - 4 ? n_columns : grid->columns - 4 };
    box.n_lines = box.n_lines < 1 ? 1 : box.n_lines;
    box.n_columns = box.n_columns < 1 ? 1 : box.n_columns;
    box.line = (grid->lines - box.n_lines) / 2;
    box.column = (grid->columns - box.n_columns) / 2;
    draw_edge(grid, &box, box.line - 1, 0x250C, 0x2510);
    for (int i = 0; i < box.n_lines; i++) {
        struct plim_strip strip = plim_strip(grid, box.line + i, box.column - 2, box.n_columns + 4);
        plim_strip_sign(&strip, PLIM_CELL_PLAIN, 0x2502, '|');
        while (strip.column < strip.end - 1)
            plim_strip_text(&strip, PLIM_CELL_PLAIN, " ");
        plim_strip_sign(&strip, PLIM_CELL_PLAIN, 0x2502, '|');
    }
    draw_edge(grid, &box, box.line + box.n_lines, 0x2514, 0x2518);
    return box;
}

void plim_top_draw_choice(struct plim_grid *grid, const char *title, const char *const *names, uint32_t n,
                          uint32_t chosen)
{
    static const char keys_text[] = "Enter: take it   Esc: back";
    int width = plim_grid_width(grid, title);
    for (uint32_t i = 0; i < n; i++)
        width = plim_grid_width(grid, names[i]) + 2 > width ? plim_grid_width(grid, names[i]) + 2 : width;
    width = width < (int)sizeof keys_text - 1 ? (int)sizeof keys_text - 1 : width;
    const struct box box = open_box(grid, (int)n + 2, width);
    struct plim_strip head = plim_strip(grid, box.line, box.column, box.n_columns);
    plim_strip_text(&head, PLIM_CELL_TITLE, title);
    const int room = box.n_lines - 2;
    const int first = room > 0 && (int)chosen >= room ? (int)chosen - room + 1 : 0;
    for (int i = 0; i < room && first + i < (int)n; i++) {
        const bool is_chosen = first + i == (int)chosen;
        struct plim_strip strip = plim_strip(grid, box.line + 1 + i, box.column, box.n_columns);
        plim_strip_text(&strip, PLIM_CELL_PLAIN, is_chosen ? "> " : "  ");
        plim_strip_text(&strip, is_chosen ? PLIM_CELL_SELECTED : PLIM_CELL_PLAIN, names[first + i]);
    }
    struct plim_strip foot = plim_strip(grid, box.line + box.n_lines - 1, box.column, box.n_columns);
    if (box.n_lines > 1)
        plim_strip_text(&foot, PLIM_CELL_KEY, keys_text);
}

void plim_top_draw_question(struct plim_grid *grid, const char *const *lines, uint32_t n)
{
    int width = 0;
    for (uint32_t i = 0; i < n; i++)
        width = plim_grid_width(grid, lines[i]) > width ? plim_grid_width(grid, lines[i]) : width;
    const struct box box = open_box(grid, (int)n, width);
    /* the last line is never left out */
    for (int i = 0; i < box.n_lines; i++) {
        const uint32_t at = i == box.n_lines - 1 ? n - 1 : (uint32_t)i;
        struct plim_strip strip = plim_strip(grid, box.line + i, box.column, box.n_columns);
        plim_strip_text(&strip, at == n - 1 ? PLIM_CELL_KEY : at == 0 ? PLIM_CELL_TITLE : PLIM_CELL_PLAIN, lines[at]);
    }
}

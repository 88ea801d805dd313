/* SPDX-License-Identifier: MIT */
#include "report/top/chart.h"

enum { LEVELS = 8, FIRST_BLOCK = 0x2581 /* U+2581 to U+2588: an eighth of a cell to all of it */ };

/* For a terminal without blocks: the same eight levels, from low to high. */
static const char ascii_levels[LEVELS + 1] = "_.,-=+*#";

void plim_chart_bar(struct plim_strip *strip, int n_columns, const struct plim_share *shares, int n_shares,
                    int64_t whole_bytes)
{
    const int begin = strip->column;
    double sum = 0;
    for (int i = 0; i < n_shares && whole_bytes > 0; i++) {
        if (shares[i].bytes <= 0)
            continue;
        sum += (double)shares[i].bytes;
        const double columns = sum / (double)whole_bytes * n_columns;
        const int to = columns >= n_columns ? n_columns : (int)(columns + 0.5);
        while (strip->column < begin + to && strip->column < strip->end)
            plim_strip_sign(strip, shares[i].role, shares[i].sign, shares[i].ascii);
    }
    while (strip->column < begin + n_columns && strip->column < strip->end)
        plim_strip_sign(strip, PLIM_CELL_DIM, 0xB7, '.');
}

/* 0: nothing; else up to n_levels, and what is more than nothing is 1 at least. */
static int level_of(int64_t bytes, int64_t whole_bytes, int n_levels)
{
    if (bytes <= 0 || whole_bytes <= 0)
        return 0;
    const double share = (double)bytes / (double)whole_bytes;
    const int level = share >= 1 ? n_levels : (int)(share * n_levels + 0.5);
    return level < 1 ? 1 : level;
}

void plim_chart_area(struct plim_grid *grid, int line, int column, int n_lines, int n_columns,
                     enum plim_role_of_cell role, const int64_t *bytes, int n, int64_t whole_bytes)
{
    const int first = n > n_columns ? n - n_columns : 0, blanks = n_columns - (n - first);
    for (int i = first; i < n; i++) {
        int level = level_of(bytes[i], whole_bytes, n_lines * LEVELS);
        for (int k = n_lines - 1; k >= 0 && level > 0; k--, level -= LEVELS) {
            struct plim_strip strip = plim_strip(grid, line + k, column + blanks + i - first, 1);
            const int block = level < LEVELS ? level - 1 : LEVELS - 1;
            plim_strip_sign(&strip, role, (uint32_t)(FIRST_BLOCK + block), ascii_levels[block]);
        }
    }
}

void plim_chart_history(struct plim_strip *strip, int n_columns, enum plim_role_of_cell role, const int64_t *bytes,
                        int n, int64_t whole_bytes)
{
    const int room = strip->end - strip->column < n_columns ? strip->end - strip->column : n_columns;
    if (room > 0)
        plim_chart_area(strip->grid, strip->line, strip->column, 1, room, role, bytes, n, whole_bytes);
    strip->column += room > 0 ? room : 0;
}

/* SPDX-License-Identifier: MIT */
#include "report/history/chart.h"

#include "base/units.h"
#include "report/print.h"

#include <string.h>

enum { WIDTH = PLIM_HISTORY_COLUMNS, HEIGHT = 6, PARTS = 8, LABEL = PLIM_HISTORY_LABEL };

static unsigned level_of(const struct plim_history *h, uint64_t bytes)
{
    const unsigned most = HEIGHT * PARTS;
    const double part = (double)bytes / (double)h->full_bytes;
    const unsigned level = part >= 1 ? most : (unsigned)(part * most + 0.5);
    return bytes && !level ? 1 : level;
}

/* How much of a row a level fills, in parts. */
static unsigned part_in(unsigned level, unsigned row)
{
    const unsigned below = (HEIGHT - 1 - row) * PARTS;
    return level <= below ? 0 : level - below > PARTS ? PARTS : level - below;
}

const char *plim_history_outer_cell(bool is_unicode) { return is_unicode ? "░" : "-"; }

static void print_cell(FILE *out, const struct plim_history *h, unsigned row, unsigned column, bool is_unicode)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    static const char *const ascii[] = { " ", ".", ".", ".", ":", ":", ":", "#", "#" };
    const unsigned part = part_in(level_of(h, h->bytes[column]), row);
    const unsigned outer = part_in(level_of(h, h->outer_bytes[column]), row);
    if (!part && outer > PARTS / 2)
        plim_print(out, "%s", plim_history_outer_cell(is_unicode));
    else
        plim_print(out, "%s", (is_unicode ? blocks : ascii)[part]);
}

static bool is_empty(const struct plim_history *h, unsigned row, unsigned column)
{
    return !part_in(level_of(h, h->bytes[column]), row) &&
           part_in(level_of(h, h->outer_bytes[column]), row) <= PARTS / 2;
}

static void print_rows(FILE *out, const struct plim_history *h, bool is_unicode)
{
    char size[PLIM_SIZE_TEXT];
    for (unsigned row = 0; row < HEIGHT; row++) {
        plim_print(out, "%*s %s", LABEL, row == 0 ? plim_size_text(size, h->full_bytes) : "", is_unicode ? "│" : "|");
        unsigned n = WIDTH;
        while (n > 0 && is_empty(h, row, n - 1))
            n--;
        for (unsigned column = 0; column < n; column++)
            print_cell(out, h, row, column, is_unicode);
        plim_print(out, "\n");
    }
}

/* Two marks in one column stand beside each other. */
static unsigned mark_column(const struct plim_history *h)
{
    if (h->peak_column != h->oom_column)
        return h->peak_column;
    return h->peak_column > 0 ? h->peak_column - 1 : 1;
}

static void print_axis(FILE *out, const struct plim_history *h, bool is_unicode)
{
    plim_print(out, "%*s %s", LABEL, "0", is_unicode ? "└" : "+");
    for (unsigned i = 0; i < WIDTH; i++)
        plim_print(out, "%s", i == h->oom_column ? "!" : i == mark_column(h) ? "^" : is_unicode ? "─" : "-");
    plim_print(out, "\n");
}

void plim_history_print(FILE *out, const struct plim_history *h, bool is_unicode)
{
    const int n = (int)strlen(h->peak), n_start = (int)strlen(h->start), n_end = (int)strlen(h->end);
    const int at = (int)mark_column(h);
    const int left = at + n / 2 + 1 > WIDTH ? WIDTH - n : at - n / 2;
    print_rows(out, h, is_unicode);
    print_axis(out, h, is_unicode);
    if (left > n_start)
        plim_print(out, "%*s  %s%*s%s", LABEL, "", h->start, left - n_start, "", h->peak);
    else
        plim_print(out, "%*s  %*s%s", LABEL, "", left > 0 ? left : 0, "", h->peak);
    const int rest = WIDTH - (left > 0 ? left : 0) - n;
    if (rest > n_end + 1)
        plim_print(out, "%*s", rest, h->end);
    plim_print(out, "\n");
}

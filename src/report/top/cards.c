/* SPDX-License-Identifier: MIT */
/* The cards of a frame: how full they are, how that came, and what follows from it. */
#include "report/top/chart.h"
#include "report/top/draw.h"
#include "report/top/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ID_COLUMNS = 7,     /* "gpu15:2" */
    WIDE_COLUMNS = 100, /* from here on with long names and power */
    WIDEST_COLUMNS = 120,
    MIDDLE_COLUMNS = 64,  /* from here on with names and totals */
    WARNING_PERCENT = 75, /* nvtop's limits */
    BAD_PERCENT = 90,
    FIGURES_BYTES = 320,
    SOON_S = 600, /* a card that will be full in less than that */
};

static bool is_shown(const struct plim_top_view *view, uint32_t card)
{
    return view->only_card == UINT32_MAX || view->only_card == card;
}

static uint32_t n_shown(const struct plim_top_machine *machine, const struct plim_top_view *view)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < machine->sample->n_cards; i++)
        n += is_shown(view, i);
    return n;
}

int plim_top_cards_lines(const struct plim_top_machine *machine, const struct plim_top_view *view, int n_lines)
{
    const int n = (int)n_shown(machine, view);
    return 2 * n <= n_lines ? 2 * n : n < n_lines ? n : n_lines;
}

/* --- one card --- */

static int64_t held_bytes(const struct plim_sample *sample, uint32_t card)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < sample->n_holdings; i++)
        if (sample->holding[i].card == card && sample->holding[i].bytes > 0)
            sum += sample->holding[i].bytes;
    return sum;
}

static int64_t total_bytes(const struct plim_sample_card *card)
{
    return card->card.total_bytes > INT64_MAX ? 0 : (int64_t)card->card.total_bytes;
}

/* -1: unknown */
static int percent_used(const struct plim_sample_card *card)
{
    const int64_t total = total_bytes(card);
    return total > 0 && card->used_bytes >= 0 ? (int)((double)card->used_bytes / (double)total * 100 + 0.5) : -1;
}

static enum plim_role_of_cell role_of(int percent)
{
    return percent >= BAD_PERCENT ? PLIM_CELL_BAD : percent >= WARNING_PERCENT ? PLIM_CELL_WARNING : PLIM_CELL_GOOD;
}

static void draw_bar(struct plim_strip *strip, int n_columns, const struct plim_sample *sample, uint32_t i)
{
    const struct plim_sample_card *card = &sample->card[i];
    const int64_t held = held_bytes(sample, i), used = card->used_bytes;
    const int64_t reserved = card->card.reserved_bytes > INT64_MAX ? 0 : (int64_t)card->card.reserved_bytes;
    const int64_t of_processes = held < used ? held : used;
    const struct plim_share shares[] = {
        { of_processes, role_of(percent_used(card)), 0x2588, '|' },
        { used - of_processes, PLIM_CELL_DIM, 0x2592, ':' },
        { reserved, PLIM_CELL_DIM, 0x2591, '-' },
    };
    plim_strip_text(strip, PLIM_CELL_PLAIN, "[");
    plim_chart_bar(strip, n_columns - 2, shares, 3, total_bytes(card));
    plim_strip_text(strip, PLIM_CELL_PLAIN, "]");
}

/* "NVIDIA GeForce RTX 4090" without its maker, whom all of them share. */
static const char *short_name(const struct plim_sample_card *card)
{
    static const char maker[] = "NVIDIA ";
    return !strncmp(card->card.name, maker, sizeof maker - 1) ? card->card.name + sizeof maker - 1 : card->card.name;
}

/* What stands behind the bar. */
static void figures_of(const struct plim_sample_card *card, int columns, char *text, size_t size)
{
    char used[PLIM_TOP_TEXT_BYTES], total[PLIM_TOP_TEXT_BYTES], percent[16] = "  ?%", load[48] = "";
    plim_top_bytes(used, card->used_bytes);
    plim_top_bytes(total, total_bytes(card) ? total_bytes(card) : -1);
    if (percent_used(card) >= 0)
        snprintf(percent, sizeof percent, "%3d%%", percent_used(card));
    if (columns < MIDDLE_COLUMNS) {
        snprintf(text, size, " %9s %s", used, percent);
        return;
    }
    size_t n = 0;
    if (card->gpu_percent >= 0)
        n = (size_t)snprintf(load, sizeof load, " gpu %3" PRId32 "%%", card->gpu_percent);
    if (card->temperature_c >= 0 && columns >= WIDE_COLUMNS)
        n += (size_t)snprintf(load + n, sizeof load - n, " %3" PRId32 " C", card->temperature_c);
    if (card->power_mw >= 0 && columns >= WIDE_COLUMNS)
        snprintf(load + n, sizeof load - n, " %4" PRId64 " W", card->power_mw / 1000);
    snprintf(text, size, " %9s of %9s %s%s", used, total, percent, load);
}

/* The widest of all cards, so that their bars end in one column. */
static int figures_columns(const struct plim_grid *grid, const struct plim_sample *sample)
{
    int most = 0;
    for (uint32_t i = 0; i < sample->n_cards; i++) {
        char figures[FIGURES_BYTES];
        figures_of(&sample->card[i], grid->columns, figures, sizeof figures);
        most = plim_grid_width(grid, figures) > most ? plim_grid_width(grid, figures) : most;
    }
    return most;
}

static void draw_line(struct plim_grid *grid, int line, const struct plim_sample *sample, uint32_t i)
{
    const struct plim_sample_card *card = &sample->card[i];
    const int columns = grid->columns;
    const int name_columns = columns < MIDDLE_COLUMNS   ? 0
                             : columns < WIDE_COLUMNS   ? 15
                             : columns < WIDEST_COLUMNS ? 20
                                                        : 26;
    struct plim_strip strip = plim_strip(grid, line, 0, columns);
    plim_strip_left(&strip, ID_COLUMNS - 1, PLIM_CELL_HEADING, card->id);
    strip.column = ID_COLUMNS;
    if (name_columns) {
        plim_strip_left(&strip, name_columns, PLIM_CELL_PLAIN, short_name(card));
        strip.column++;
    }
    if (card->is_asleep) {
        plim_strip_text(&strip, PLIM_CELL_DIM, "asleep: not asked, so that it goes on sleeping");
        return;
    }
    char figures[FIGURES_BYTES];
    figures_of(card, columns, figures, sizeof figures);
    const int bar = columns - strip.column - figures_columns(grid, sample);
    if (bar >= 6)
        draw_bar(&strip, bar, sample, i);
    plim_strip_text(&strip, PLIM_CELL_PLAIN, figures);
}

static void draw_second_line(struct plim_grid *grid, int line, const struct plim_top_machine *machine, uint32_t i)
{
    const struct plim_sample_card *card = &machine->sample->card[i];
    const struct plim_watch_card *seen = &machine->cards[i];
    int64_t bytes[PLIM_WATCH_MAX_POINTS];
    char text[PLIM_TOP_TEXT_BYTES];
    const int columns = grid->columns < MIDDLE_COLUMNS ? grid->columns / 4 : grid->columns / 3;
    const uint32_t n = machine->history(machine->history_context, i, UINT32_MAX, bytes, PLIM_WATCH_MAX_POINTS);
    struct plim_strip strip = plim_strip(grid, line, ID_COLUMNS, grid->columns - ID_COLUMNS);
    plim_chart_history(&strip, columns, PLIM_CELL_CHART, bytes, (int)n, total_bytes(card));
    plim_strip_text(&strip, PLIM_CELL_PLAIN, " ");
    plim_top_growth(text, &seen->growth);
    if (*text) {
        const bool is_growing = seen->growth.trend == PLIM_TREND_GROWING;
        const bool is_soon = is_growing && seen->growth.full_s >= 0 && seen->growth.full_s < SOON_S;
        plim_strip_print(&strip,
                         is_soon      ? PLIM_CELL_BAD
                         : is_growing ? PLIM_CELL_WARNING
                                      : PLIM_CELL_PLAIN,
                         "%s  ", text);
    }
    if (card->why[0])
        plim_strip_print(&strip, PLIM_CELL_DIM, "%s  ", card->why);
    if (seen->stale_bytes > 0)
        plim_strip_print(&strip, PLIM_CELL_WARNING, "%s stale  ", plim_top_bytes(text, seen->stale_bytes));
    if (seen->unattributed_bytes > 0)
        plim_strip_print(&strip, PLIM_CELL_DIM, "%s of no process%s%s", plim_top_bytes(text, seen->unattributed_bytes),
                         seen->unattributed_why[0] ? ": " : "", seen->unattributed_why);
}

/* --- all of them --- */

/* The cards for which there was no room. */
static void draw_rest(struct plim_grid *grid, int line, const struct plim_top_machine *machine, uint32_t first)
{
    int64_t used = 0, total = 0;
    uint32_t n = 0;
    char text[PLIM_TOP_TEXT_BYTES], whole[PLIM_TOP_TEXT_BYTES];
    for (uint32_t i = first; i < machine->sample->n_cards; i++, n++) {
        used += machine->sample->card[i].used_bytes > 0 ? machine->sample->card[i].used_bytes : 0;
        total += total_bytes(&machine->sample->card[i]);
    }
    struct plim_strip strip = plim_strip(grid, line, 0, grid->columns);
    plim_strip_print(&strip, PLIM_CELL_DIM, "%" PRIu32 " more card%s: %s of %s", n, n == 1 ? "" : "s",
                     plim_top_bytes(text, used), plim_top_bytes(whole, total));
}

void plim_top_draw_cards(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                         const struct plim_top_view *view)
{
    const int n = (int)n_shown(machine, view), end = line + n_lines;
    const int each = 2 * n <= n_lines ? 2 : 1;
    for (uint32_t i = 0; i < machine->sample->n_cards && line < end; i++) {
        if (!is_shown(view, i))
            continue;
        if (each == 1 && n > n_lines && line + 1 == end) {
            draw_rest(grid, line, machine, i);
            return;
        }
        draw_line(grid, line, machine->sample, i);
        if (each == 2)
            draw_second_line(grid, line + 1, machine, i);
        line += each;
    }
}

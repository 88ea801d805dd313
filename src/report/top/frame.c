/* SPDX-License-Identifier: MIT */
#include "report/top/frame.h"

#include "report/top/draw.h"
#include "report/top/texts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const struct plim_top_signal plim_top_signals[PLIM_TOP_SIGNALS_N] = {
    { "TERM", "end, in order", SIGTERM },
    { "INT", "interrupt, as Ctrl-C", SIGINT },
    { "HUP", "hang up", SIGHUP },
    { "KILL", "end at once", SIGKILL },
    { "STOP", "pause", SIGSTOP },
    { "CONT", "go on", SIGCONT },
    { "USR1", "as the program says", SIGUSR1 },
    { "USR2", "as the program says", SIGUSR2 },
};

/* --- the first and the last line --- */

enum { WIDE_COLUMNS = 60 }; /* with the time, and all about the looks */

static void draw_title(struct plim_grid *grid, const struct plim_top_machine *machine, const struct plim_top_view *view,
                       const struct plim_top_rows *rows)
{
    const struct plim_sample *sample = machine->sample;
    plim_grid_paint(grid, 0, PLIM_CELL_TITLE);
    struct plim_strip strip = plim_strip(grid, 0, 0, grid->columns);
    char right[80];
    const bool is_wide = grid->columns >= WIDE_COLUMNS;
    snprintf(right, sizeof right, "%s%s%g s %s%s", view->is_readonly && is_wide ? "read only  " : "",
             view->is_slowed && is_wide ? "slowed to " : "", view->interval_ms / 1000.0, is_wide ? " " : "",
             is_wide ? view->clock : "");
    const int width = plim_grid_width(grid, right);
    strip.end -= width;
    plim_strip_print(&strip, PLIM_CELL_TITLE, " plimsoll top  %" PRIu32 " card%s, %" PRIu32 " process%s",
                     sample->n_cards, sample->n_cards == 1 ? "" : "s", sample->n_processes,
                     sample->n_processes == 1 ? "" : "es");
    if (rows->n_hidden)
        plim_strip_print(&strip, PLIM_CELL_TITLE, ", %" PRIu32 " hidden", rows->n_hidden);
    if (view->is_paused)
        plim_strip_text(&strip, PLIM_CELL_TITLE, "  PAUSED");
    struct plim_strip end = plim_strip(grid, 0, grid->columns - width, width);
    plim_strip_text(&end, PLIM_CELL_TITLE, right);
}

struct hint {
    const char *key, *what;
};

static void draw_hints(struct plim_strip *strip, const struct hint *hints, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int width = (int)(strlen(hints[i].key) + strlen(hints[i].what)) + 3;
        if (strip->column + width > strip->end)
            return;
        plim_strip_print(strip, PLIM_CELL_KEY, " %s", hints[i].key);
        plim_strip_print(strip, PLIM_CELL_PLAIN, " %s ", hints[i].what);
    }
}

static void draw_foot(struct plim_grid *grid, const struct plim_top_view *view)
{
    static const struct hint list[] = { { "q", "quit" },    { "F1", "help" }, { "Enter", "detail" },
                                        { "/", "filter" },  { ">", "sort" },  { "e", "explain" },
                                        { "F9", "signal" }, { "t", "tree" },  { "Space", "tag" },
                                        { "p", "pause" },   { "1-9", "card" } };
    static const struct hint one[] = {
        { "Esc", "back" }, { "e", "explain" }, { "Enter", "memory" }, { "F9", "signal" }, { "q", "quit" }
    };
    static const struct hint help[] = { { "Esc", "back" }, { "q", "quit" } };
    struct plim_strip strip = plim_strip(grid, grid->lines - 1, 0, grid->columns);
    if (view->is_filtering) {
        plim_strip_print(&strip, PLIM_CELL_KEY, "Filter: ");
        plim_strip_print(&strip, PLIM_CELL_PLAIN, "%s", view->filter);
        plim_strip_text(&strip, PLIM_CELL_SELECTED, " ");
    } else if (view->message[0]) {
        plim_strip_text(&strip, view->is_message_bad ? PLIM_CELL_BAD : PLIM_CELL_GOOD, view->message);
    } else if (view->page == PLIM_TOP_HELP) {
        draw_hints(&strip, help, sizeof help / sizeof *help);
    } else if (view->page == PLIM_TOP_DETAIL || view->page == PLIM_TOP_EXPLAIN) {
        draw_hints(&strip, one, sizeof one / sizeof *one);
    } else {
        if (view->filter[0])
            plim_strip_print(&strip, PLIM_CELL_WARNING, " Filter: %s ", view->filter);
        draw_hints(&strip, list, sizeof list / sizeof *list);
    }
}

/* --- dialogs --- */

static void draw_sorting(struct plim_grid *grid, const struct plim_top_view *view)
{
    const char *names[PLIM_TOP_BY_MAX_];
    for (uint32_t i = 0; i < PLIM_TOP_BY_MAX_; i++)
        names[i] = plim_top_sort_name((enum plim_top_sort)i);
    plim_top_draw_choice(grid, "Sort by", names, PLIM_TOP_BY_MAX_, view->choice);
}

/* "python3 train.py (41233)", or how many are tagged. */
static void targets_of(const struct plim_top_machine *machine, const struct plim_top_view *view,
                       const struct plim_top_rows *rows, char *text, size_t size)
{
    const uint32_t at = plim_top_rows_selected(rows, machine->sample, view);
    if (view->n_tagged) {
        snprintf(text, size, "%" PRIu32 " tagged process%s", view->n_tagged, view->n_tagged == 1 ? "" : "es");
        return;
    }
    const struct plim_sample *sample = machine->sample;
    const char *command =
        at == UINT32_MAX ? "" : plim_top_command(&sample->process[sample->holding[rows->row[at].holding].process]);
    snprintf(text, size, "%" PRId64 " %.60s", view->selected.pid, command);
}

static void draw_signals(struct plim_grid *grid, const struct plim_top_view *view, const char *targets)
{
    char lines[PLIM_TOP_SIGNALS_N][48], title[120];
    const char *names[PLIM_TOP_SIGNALS_N];
    for (int i = 0; i < PLIM_TOP_SIGNALS_N; i++) {
        snprintf(lines[i], sizeof lines[i], "%-5s %s", plim_top_signals[i].name, plim_top_signals[i].what);
        names[i] = lines[i];
    }
    snprintf(title, sizeof title, "Signal to %.100s", targets);
    plim_top_draw_choice(grid, title, names, PLIM_TOP_SIGNALS_N, view->choice);
}

static void draw_confirm(struct plim_grid *grid, const struct plim_top_view *view, const char *targets)
{
    char title[120];
    snprintf(title, sizeof title, "Send %s to %.90s?", plim_top_signals[view->choice % PLIM_TOP_SIGNALS_N].name,
             targets);
    const char *const lines[] = { title, "", "y: send it   any other key: do not" };
    plim_top_draw_question(grid, lines, 3);
}

/* --- */

static void draw_list(struct plim_grid *grid, const struct plim_top_machine *machine, struct plim_top_view *view,
                      const struct plim_top_rows *rows)
{
    const int room = grid->lines - 2; /* between the first line and the last */
    const int for_rows = room / 2 < 4 ? 4 : room / 2;
    const int n_cards = plim_top_cards_lines(machine, view, room - for_rows);
    plim_top_draw_cards(grid, 1, n_cards, machine, view);
    plim_top_draw_table(grid, 1 + n_cards, room - n_cards, machine, view, rows);
}

static void draw_page(struct plim_grid *grid, const struct plim_top_machine *machine, struct plim_top_view *view,
                      const struct plim_top_rows *rows)
{
    const uint32_t at = plim_top_rows_selected(rows, machine->sample, view);
    if (view->page == PLIM_TOP_HELP) {
        plim_top_draw_help(grid, 1, grid->lines - 2);
    } else if (view->page != PLIM_TOP_DETAIL && view->page != PLIM_TOP_EXPLAIN) {
        draw_list(grid, machine, view, rows);
    } else if (at == UINT32_MAX) {
        struct plim_strip strip = plim_strip(grid, 2, 1, grid->columns - 1);
        plim_strip_text(&strip, PLIM_CELL_WARNING, "This process holds no memory any more.");
    } else {
        (view->page == PLIM_TOP_DETAIL ? plim_top_draw_detail : plim_top_draw_explain)(grid, 1, grid->lines - 2,
                                                                                       machine, rows->row[at].holding);
    }
}

void plim_top_draw(struct plim_grid *grid, const struct plim_top_machine *machine, struct plim_top_view *view,
                   const struct plim_top_rows *rows)
{
    char targets[96];
    plim_grid_clear(grid);
    if (grid->lines < PLIM_TOP_MIN_LINES || grid->columns < PLIM_TOP_MIN_COLUMNS) {
        struct plim_strip strip = plim_strip(grid, 0, 0, grid->columns);
        plim_strip_text(&strip, PLIM_CELL_WARNING, "needs 40x10");
        return;
    }
    draw_title(grid, machine, view, rows);
    draw_page(grid, machine, view, rows);
    draw_foot(grid, view);
    targets_of(machine, view, rows, targets, sizeof targets);
    if (view->page == PLIM_TOP_SORTING)
        draw_sorting(grid, view);
    else if (view->page == PLIM_TOP_SIGNALS)
        draw_signals(grid, view, targets);
    else if (view->page == PLIM_TOP_CONFIRM)
        draw_confirm(grid, view, targets);
}

/* SPDX-License-Identifier: MIT */
/* The processes of a frame, one row for each card that a process holds memory on. */
#include "report/top/chart.h"
#include "report/top/draw.h"
#include "report/top/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a cell of the table is drawn of. */
struct row {
    const struct plim_top_machine *machine;
    const struct plim_holding *holding;
    const struct plim_sample_process *process;
    const struct plim_watch_row *seen;
    uint32_t index, depth;
};

typedef enum plim_role_of_cell cell_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES]);

static enum plim_role_of_cell pid_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    snprintf(text, PLIM_TOP_TEXT_BYTES, "%" PRId64, row->process->pid);
    return PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell user_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    snprintf(text, PLIM_TOP_TEXT_BYTES, "%s", row->process->user[0] ? row->process->user : "?");
    return PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell card_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    snprintf(text, PLIM_TOP_TEXT_BYTES, "%s", row->machine->sample->card[row->holding->card].id);
    return PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell memory_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    plim_top_bytes(text, row->holding->bytes);
    return PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell peak_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    plim_top_bytes(text, row->holding->peak_bytes);
    return PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell gpu_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    if (row->holding->gpu_percent < 0)
        snprintf(text, PLIM_TOP_TEXT_BYTES, "?");
    else
        snprintf(text, PLIM_TOP_TEXT_BYTES, "%" PRId32 "%%", row->holding->gpu_percent);
    return row->holding->gpu_percent > 0 ? PLIM_CELL_GOOD : PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell growth_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    plim_top_rate(text, row->seen->growth.bytes_per_min);
    return row->seen->growth.trend == PLIM_TREND_GROWING ? PLIM_CELL_WARNING : PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell idle_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    plim_top_idle(text, row->seen);
    return row->seen->stale == PLIM_STALE_YES ? PLIM_CELL_BAD : PLIM_CELL_PLAIN;
}

static enum plim_role_of_cell stale_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    snprintf(text, PLIM_TOP_TEXT_BYTES, "%s", plim_top_stale(row->seen->stale));
    return row->seen->stale == PLIM_STALE_YES ? PLIM_CELL_BAD : PLIM_CELL_DIM;
}

static enum plim_role_of_cell framework_text(const struct row *row, char text[PLIM_TOP_TEXT_BYTES])
{
    snprintf(text, PLIM_TOP_TEXT_BYTES, "%s", row->seen->framework ? row->seen->framework : "");
    return PLIM_CELL_PLAIN;
}

/* From left to right; the command has what is left. No text: the line of history. */
static const struct column {
    const char *title, *name;
    enum plim_top_sort sort;
    bool is_left;
    int width, from_columns; /* of the terminal */
    cell_text *text;
} columns[] = {
    { "PID", "process id", PLIM_TOP_BY_PID, false, 7, 0, pid_text },
    { "USER", "user", PLIM_TOP_BY_USER, true, 8, 60, user_text },
    { "CARD", "card", PLIM_TOP_BY_CARD, true, 6, 54, card_text },
    { "MEMORY", "memory", PLIM_TOP_BY_MEMORY, false, 9, 0, memory_text },
    { "PEAK", NULL, PLIM_TOP_BY_MAX_, false, 9, 150, peak_text },
    { "HISTORY", NULL, PLIM_TOP_BY_MAX_, true, 12, 110, NULL },
    { "GROWTH", "growth", PLIM_TOP_BY_GROWTH, false, 13, 72, growth_text },
    { "GPU", "use of the GPU", PLIM_TOP_BY_GPU, false, 4, 90, gpu_text },
    { "IDLE", "idle time", PLIM_TOP_BY_IDLE, false, 7, 0, idle_text },
    { "STALE", "stale", PLIM_TOP_BY_STALE, true, 5, 64, stale_text },
    { "BY", NULL, PLIM_TOP_BY_MAX_, true, 10, 140, framework_text },
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

const char *plim_top_sort_name(enum plim_top_sort sort)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].name && columns[i].sort == sort)
            return columns[i].name;
    return "command";
}

/* --- */

static enum plim_role_of_cell heading_role(const struct plim_top_view *view, enum plim_top_sort sort)
{
    return view->sort == sort ? PLIM_CELL_SORTED : PLIM_CELL_HEADING;
}

static void draw_heading(struct plim_grid *grid, int line, const struct plim_top_view *view)
{
    plim_grid_paint(grid, line, PLIM_CELL_HEADING);
    struct plim_strip strip = plim_strip(grid, line, 1, grid->columns - 1);
    for (int i = 0; i < N_COLUMNS; i++) {
        if (grid->columns < columns[i].from_columns)
            continue;
        const enum plim_role_of_cell role = heading_role(view, columns[i].sort);
        (columns[i].is_left ? plim_strip_left : plim_strip_right)(&strip, columns[i].width, role, columns[i].title);
        strip.column++;
    }
    if (strip.column < strip.end)
        plim_strip_text(&strip, heading_role(view, PLIM_TOP_BY_COMMAND), "COMMAND");
}

static void draw_trend(struct plim_strip *strip, int width, const struct row *row)
{
    int64_t bytes[PLIM_WATCH_MAX_POINTS], most = 1;
    const struct plim_top_machine *machine = row->machine;
    const uint32_t n =
        machine->history(machine->history_context, row->holding->card, row->index, bytes, (uint32_t)width);
    for (uint32_t i = 0; i < n; i++)
        most = bytes[i] > most ? bytes[i] : most;
    plim_chart_history(strip, width, PLIM_CELL_CHART, bytes, (int)n, most);
}

static void draw_command(struct plim_strip *strip, const struct row *row, uint32_t shift)
{
    if (strip->column >= strip->end)
        return;
    for (uint32_t i = 0; i + 1 < row->depth; i++)
        plim_strip_text(strip, PLIM_CELL_DIM, "   ");
    if (row->depth) {
        plim_strip_sign(strip, PLIM_CELL_DIM, 0x2514, '`');
        plim_strip_sign(strip, PLIM_CELL_DIM, 0x2500, '-');
        plim_strip_text(strip, PLIM_CELL_DIM, " ");
    }
    const bool is_known = !row->process->is_gone && !row->process->is_outside;
    plim_strip_shifted(strip, (int)shift, is_known ? PLIM_CELL_PLAIN : PLIM_CELL_DIM, plim_top_command(row->process));
}

static void draw_row(struct plim_grid *grid, int line, const struct row *row, const struct plim_top_view *view)
{
    char text[PLIM_TOP_TEXT_BYTES];
    const struct plim_top_id id = plim_top_id_of(row->machine->sample, row->index);
    const bool is_tagged = plim_top_is_tagged(view, &id);
    struct plim_strip strip = plim_strip(grid, line, 0, grid->columns);
    plim_strip_text(&strip, PLIM_CELL_PLAIN, is_tagged ? "*" : " ");
    for (int i = 0; i < N_COLUMNS; i++) {
        if (grid->columns < columns[i].from_columns)
            continue;
        if (columns[i].text) {
            const enum plim_role_of_cell role = columns[i].text(row, text);
            (columns[i].is_left ? plim_strip_left : plim_strip_right)(&strip, columns[i].width, role, text);
        } else {
            draw_trend(&strip, columns[i].width, row);
        }
        strip.column++;
    }
    draw_command(&strip, row, view->shift);
    if (view->has_selection && plim_top_is_same(&id, &view->selected))
        plim_grid_paint(grid, line, PLIM_CELL_SELECTED);
    else if (is_tagged)
        plim_grid_paint(grid, line, PLIM_CELL_TAGGED);
}

/* The first row, so that the selected one is among those that are drawn, and no line stays empty while there are rows.
 */
static void scroll(struct plim_top_view *view, const struct plim_top_rows *rows, const struct plim_sample *sample,
                   uint32_t n_lines)
{
    const uint32_t selected = plim_top_rows_selected(rows, sample, view);
    if (selected != UINT32_MAX && selected < view->first_row)
        view->first_row = selected;
    if (selected != UINT32_MAX && selected >= view->first_row + n_lines)
        view->first_row = selected - n_lines + 1;
    if (view->first_row + n_lines > rows->n)
        view->first_row = rows->n > n_lines ? rows->n - n_lines : 0;
}

/* Why there are no rows. */
static void draw_none(struct plim_grid *grid, int line, const struct plim_top_machine *machine,
                      const struct plim_top_rows *rows)
{
    const struct plim_sample *sample = machine->sample;
    char text[sizeof sample->why];
    if (rows->n_hidden)
        snprintf(text, sizeof text, "%" PRIu32 " process%s hidden: Esc shows all", rows->n_hidden,
                 rows->n_hidden == 1 ? "" : "es");
    else
        snprintf(text, sizeof text, "%s",
                 sample->n_cards  ? "no process holds memory on a card"
                 : sample->why[0] ? sample->why
                                  : "no card is here");
    struct plim_strip strip = plim_strip(grid, line, 1, grid->columns - 1);
    plim_strip_text(&strip, PLIM_CELL_DIM, text);
}

void plim_top_draw_table(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                         struct plim_top_view *view, const struct plim_top_rows *rows)
{
    if (n_lines < 1)
        return;
    draw_heading(grid, line++, view);
    view->n_table_rows = n_lines > 1 ? (uint32_t)n_lines - 1 : 0;
    if (rows->n == 0) {
        draw_none(grid, line, machine, rows);
        return;
    }
    scroll(view, rows, machine->sample, view->n_table_rows);
    for (uint32_t i = 0; i < view->n_table_rows && view->first_row + i < rows->n; i++, line++) {
        const struct plim_top_row *at = &rows->row[view->first_row + i];
        const struct plim_holding *holding = &machine->sample->holding[at->holding];
        const struct row row = {
            machine,     holding,  &machine->sample->process[holding->process], &machine->rows[at->holding],
            at->holding, at->depth
        };
        draw_row(grid, line, &row, view);
    }
}

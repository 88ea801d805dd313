/* SPDX-License-Identifier: MIT */
/* One process: who it is, how its memory came about, and what a bill says it should be. */
#include "report/top/chart.h"
#include "report/top/draw.h"
#include "report/top/texts.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_COLUMNS = 11, CHART_LINES = 4, MAX_FIELD_LINES = 4 };

/* Lines are added from the top; what finds no room is left out. */
struct page {
    struct plim_grid *grid;
    int line, end;
};

static void add_blank(struct page *page) { page->line++; }

static void add_text(struct page *page, int indent, enum plim_role_of_cell role, const char *text)
{
    const int room = page->end - page->line, most = room < MAX_FIELD_LINES ? room : MAX_FIELD_LINES;
    page->line += plim_grid_wrap(page->grid, page->line, indent, page->grid->columns - indent, most, role, text);
}

static void add_field(struct page *page, const char *label, enum plim_role_of_cell role, const char *text)
{
    if (!text || !*text || page->line >= page->end)
        return;
    struct plim_strip strip = plim_strip(page->grid, page->line, 0, page->grid->columns);
    plim_strip_left(&strip, LABEL_COLUMNS - 1, PLIM_CELL_HEADING, label);
    add_text(page, LABEL_COLUMNS, role, text);
}

/* Facts in one line, separated by commas. */
struct facts {
    char text[400];
    size_t n;
};

static void add_fact(struct facts *facts, const char *format, ...) PLIM_PRINTF(2, 3);

static void add_fact(struct facts *facts, const char *format, ...)
{
    va_list arguments;
    if (facts->n && facts->n + 3 < sizeof facts->text)
        facts->n += (size_t)snprintf(facts->text + facts->n, sizeof facts->text - facts->n, ", ");
    va_start(arguments, format);
    const int n = vsnprintf(facts->text + facts->n, sizeof facts->text - facts->n, format, arguments);
    va_end(arguments);
    if (n > 0)
        facts->n += (size_t)n < sizeof facts->text - facts->n ? (size_t)n : sizeof facts->text - facts->n - 1;
}

/* --- who it is --- */

static const char *state_name(char state)
{
    static const struct {
        char state;
        const char *name;
    } names[] = { { 'R', "running" }, { 'S', "sleeping" }, { 'D', "waiting for the system" },
                  { 'T', "stopped" }, { 't', "traced" },   { 'Z', "defunct" },
                  { 'I', "idle" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].state == state)
            return names[i].name;
    return NULL;
}

static void add_title(struct page *page, const struct plim_sample *sample, const struct plim_holding *holding)
{
    const struct plim_sample_process *p = &sample->process[holding->process];
    char text[256];
    snprintf(text, sizeof text, "%.60s %" PRId64 " on %s, %.79s", p->program && *p->program ? p->program : "process",
             p->pid, sample->card[holding->card].id, sample->card[holding->card].card.name);
    add_text(page, 0, PLIM_CELL_TITLE, text);
}

static void add_owner(struct page *page, const struct plim_sample *sample, const struct plim_sample_process *p)
{
    struct facts facts = { 0 };
    char text[PLIM_TOP_TEXT_BYTES];
    const int64_t now_s = sample->taken_unix_ms / 1000;
    if (p->user[0])
        add_fact(&facts, "%s", p->user);
    if (p->started_unix_s > 0 && now_s >= p->started_unix_s)
        add_fact(&facts, "started %s ago", plim_top_duration(text, now_s - p->started_unix_s));
    if (p->parent > 0)
        add_fact(&facts, "parent %" PRId64, p->parent);
    add_field(page, "user", PLIM_CELL_PLAIN, facts.text);
    facts = (struct facts){ 0 };
    if (p->container && *p->container)
        add_fact(&facts, "container %s%s", p->container, p->is_container_gone ? " (gone)" : "");
    if (p->pod && *p->pod)
        add_fact(&facts, "pod %s", p->pod);
    if (p->slurm_job && *p->slurm_job)
        add_fact(&facts, "Slurm job %s", p->slurm_job);
    add_field(page, "inside", PLIM_CELL_PLAIN, facts.text);
}

static void add_program(struct page *page, const struct plim_sample_process *p, const struct plim_watch_row *row)
{
    struct facts facts = { 0 };
    if (row->framework && *row->framework)
        add_fact(&facts, "%s", row->framework);
    if (row->role != PLIM_ROLE_UNKNOWN)
        add_fact(&facts, "%s", plim_watch_role_name(row->role));
    add_field(page, "program", PLIM_CELL_PLAIN, facts.text);
    add_field(page, "command", PLIM_CELL_PLAIN, p->is_gone || p->is_outside ? plim_top_command(p) : p->command);
    add_field(page, "folder", PLIM_CELL_PLAIN, p->folder);
    add_field(page, "model", PLIM_CELL_PLAIN, row->model);
}

static void add_state(struct page *page, const struct plim_sample_process *p, const struct plim_holding *holding,
                      const struct plim_watch_row *row)
{
    struct facts facts = { 0 };
    char text[PLIM_TOP_TEXT_BYTES], stale[PLIM_WATCH_WHY_BYTES + 16];
    if (state_name(p->state))
        add_fact(&facts, "%s", state_name(p->state));
    if (row->idle_s >= 0)
        add_fact(&facts, "idle %s", plim_top_idle(text, row));
    if (holding->gpu_percent >= 0)
        add_fact(&facts, "%" PRId32 "%% of the GPU", holding->gpu_percent);
    if (p->cpu_ms >= 0)
        add_fact(&facts, "%s of processor time", plim_top_duration(text, p->cpu_ms / 1000));
    if (p->rss_bytes >= 0)
        add_fact(&facts, "%s of RAM", plim_top_bytes(text, p->rss_bytes));
    add_field(page, "state", PLIM_CELL_PLAIN, facts.text);
    snprintf(stale, sizeof stale, "%s%s%s", row->stale == PLIM_STALE_YES ? "yes" : plim_top_stale(row->stale),
             row->why[0] ? ": " : "", row->why);
    add_field(page, "stale", row->stale == PLIM_STALE_YES ? PLIM_CELL_BAD : PLIM_CELL_PLAIN, stale);
}

/* --- its memory --- */

static void add_memory(struct page *page, const struct plim_top_machine *machine, uint32_t index)
{
    const struct plim_holding *holding = &machine->sample->holding[index];
    const struct plim_watch_growth *growth = &machine->rows[index].growth;
    int64_t bytes[PLIM_WATCH_MAX_POINTS], most = 1;
    struct facts facts = { 0 };
    char text[PLIM_TOP_TEXT_BYTES];
    add_fact(&facts, "%s", plim_top_bytes(text, holding->bytes));
    if (holding->peak_bytes >= 0)
        add_fact(&facts, "at most %s", plim_top_bytes(text, holding->peak_bytes));
    plim_top_growth(text, growth);
    if (*text)
        add_fact(&facts, "%s", text);
    else if (growth->trend == PLIM_TREND_STEADY)
        add_fact(&facts, "steady");
    add_field(page, "memory", growth->trend == PLIM_TREND_GROWING ? PLIM_CELL_WARNING : PLIM_CELL_PLAIN, facts.text);
    const uint32_t n = machine->history(machine->history_context, holding->card, index, bytes, PLIM_WATCH_MAX_POINTS);
    const int room = page->end - page->line;
    if (n < 2 || room < CHART_LINES + 2)
        return;
    for (uint32_t i = 0; i < n; i++)
        most = bytes[i] > most ? bytes[i] : most;
    const int columns = page->grid->columns - LABEL_COLUMNS;
    plim_chart_area(page->grid, page->line, LABEL_COLUMNS, CHART_LINES, columns < 80 ? columns : 80, PLIM_CELL_CHART,
                    bytes, (int)n, most);
    struct plim_strip strip = plim_strip(page->grid, page->line, 0, LABEL_COLUMNS - 1);
    plim_strip_text(&strip, PLIM_CELL_DIM, plim_top_bytes(text, most));
    page->line += CHART_LINES;
}

static void add_bytes(struct page *page, const char *label, uint64_t low, uint64_t high, const char *more)
{
    char low_text[PLIM_SIZE_TEXT], high_text[PLIM_SIZE_TEXT];
    if (page->line >= page->end)
        return;
    struct plim_strip strip = plim_strip(page->grid, page->line++, 2, page->grid->columns - 2);
    const int width = strip.end - strip.column >= 60 ? 34 : 20;
    plim_strip_left(&strip, width, PLIM_CELL_PLAIN, label);
    plim_strip_right(&strip, 10, PLIM_CELL_PLAIN, plim_size_text(low_text, low));
    plim_size_text(high_text, high);
    if (strcmp(low_text, high_text) != 0)
        plim_strip_print(&strip, PLIM_CELL_PLAIN, " to %s", high_text);
    if (*more)
        plim_strip_print(&strip, PLIM_CELL_PLAIN, "  %s", more);
}

/* Beside the bill: within it, or what is more or less than it says. */
static void compare(const struct plim_top_bill *bill, uint64_t bytes, char text[PLIM_TOP_TEXT_BYTES])
{
    char size[PLIM_SIZE_TEXT];
    if (bytes > bill->high_bytes)
        snprintf(text, PLIM_TOP_TEXT_BYTES, "%s more than the bill", plim_size_text(size, bytes - bill->high_bytes));
    else if (bytes < bill->low_bytes)
        snprintf(text, PLIM_TOP_TEXT_BYTES, "%s less than the bill", plim_size_text(size, bill->low_bytes - bytes));
    else
        snprintf(text, PLIM_TOP_TEXT_BYTES, "as the bill says");
}

static void add_bill(struct page *page, const struct plim_top_bill *bill, int64_t bytes)
{
    char text[PLIM_TOP_TEXT_BYTES];
    if (!bill || (!bill->why[0] && bill->n_lines == 0))
        return;
    if (bill->why[0]) {
        add_field(page, "bill", PLIM_CELL_DIM, bill->why);
        return;
    }
    add_field(page, "bill", PLIM_CELL_PLAIN, bill->title);
    for (uint32_t i = 0; i < bill->n_lines; i++)
        add_bytes(page, bill->line[i].label, bill->line[i].low_bytes, bill->line[i].high_bytes, "");
    add_bytes(page, "sum of the bill", bill->low_bytes, bill->high_bytes, "");
    if (bytes < 0)
        return;
    compare(bill, (uint64_t)bytes, text);
    add_bytes(page, "held now", (uint64_t)bytes, (uint64_t)bytes, text);
}

void plim_top_draw_detail(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                          uint32_t holding)
{
    struct page page = { grid, line, line + n_lines };
    const struct plim_sample *sample = machine->sample;
    const struct plim_holding *h = &sample->holding[holding];
    const struct plim_sample_process *process = &sample->process[h->process];
    add_title(&page, sample, h);
    add_owner(&page, sample, process);
    add_program(&page, process, &machine->rows[holding]);
    add_state(&page, process, h, &machine->rows[holding]);
    add_memory(&page, machine, holding);
    add_bill(&page, machine->bill, h->bytes);
}

/* --- what is known of its state, and what to do --- */

static void add_return(struct page *page, const struct plim_sample *sample, uint32_t index,
                       const struct plim_watch_row *row)
{
    const struct plim_holding *holding = &sample->holding[index];
    const struct plim_sample_process *process = &sample->process[holding->process];
    char text[160], size[PLIM_TOP_TEXT_BYTES];
    if (process->is_gone || process->is_outside || process->state == 'Z')
        return;
    if (holding->bytes > 0) {
        snprintf(text, sizeof text, "Ending it returns %s on %s.", plim_top_bytes(size, holding->bytes),
                 sample->card[holding->card].id);
        add_text(page, 0, PLIM_CELL_PLAIN, text);
    }
    if (row->stale != PLIM_STALE_YES || row->reason == PLIM_REASON_NOTEBOOK)
        return;
    add_text(page, 0, PLIM_CELL_PLAIN,
             "F9 ends it; or a command, which asks first and verifies that the memory is back:");
    snprintf(text, sizeof text, "plimsoll free %" PRId64, process->pid);
    add_text(page, 2, PLIM_CELL_KEY, text);
}

static void add_growth(struct page *page, const struct plim_watch_growth *growth)
{
    char text[PLIM_TOP_TEXT_BYTES + 80], rate[PLIM_TOP_TEXT_BYTES];
    plim_top_growth(rate, growth);
    if (growth->trend == PLIM_TREND_GROWING)
        snprintf(text, sizeof text, "It goes on growing, a leak or a cache without a limit: %s.", rate);
    else if (growth->trend == PLIM_TREND_WARM_UP)
        snprintf(text, sizeof text, "It has grown since its start and was not yet level: %s.", rate);
    else
        return;
    add_text(page, 0, growth->trend == PLIM_TREND_GROWING ? PLIM_CELL_WARNING : PLIM_CELL_PLAIN, text);
}

static void add_log(struct page *page, const struct plim_sample *sample, const struct plim_sample_process *process)
{
    char text[600], age[PLIM_TOP_TEXT_BYTES];
    const int64_t now_s = sample->taken_unix_ms / 1000;
    if (!process->log || !*process->log)
        return;
    if (process->log_written_unix_s > 0 && now_s >= process->log_written_unix_s)
        snprintf(text, sizeof text, "Its output goes to a file that was written %s ago:",
                 plim_top_duration(age, now_s - process->log_written_unix_s));
    else
        snprintf(text, sizeof text, "Its output goes to a file:");
    add_text(page, 0, PLIM_CELL_PLAIN, text);
    snprintf(text, sizeof text, "plimsoll explain %.500s", process->log);
    add_text(page, 2, PLIM_CELL_KEY, text);
}

void plim_top_draw_explain(struct plim_grid *grid, int line, int n_lines, const struct plim_top_machine *machine,
                           uint32_t holding)
{
    struct page page = { grid, line, line + n_lines };
    const struct plim_sample *sample = machine->sample;
    const struct plim_watch_row *row = &machine->rows[holding];
    const struct plim_sample_process *process = &sample->process[sample->holding[holding].process];
    char text[PLIM_WATCH_WHY_BYTES + 32];
    add_title(&page, sample, &sample->holding[holding]);
    add_blank(&page);
    snprintf(text, sizeof text, "%s%s%s",
             row->stale == PLIM_STALE_YES  ? "Stale"
             : row->stale == PLIM_STALE_NO ? "Not stale"
                                           : "Not known whether it is stale",
             row->why[0] ? ": " : "", row->why);
    add_text(&page, 0, row->stale == PLIM_STALE_YES ? PLIM_CELL_BAD : PLIM_CELL_PLAIN, text);
    add_growth(&page, &row->growth);
    add_return(&page, sample, holding, row);
    add_log(&page, sample, process);
}

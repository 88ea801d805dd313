/* SPDX-License-Identifier: MIT */
#include "report/sweep/sweep.h"

#include "base/limits.h"
#include "report/columns.h"
#include "report/print.h"
#include "sweep/command.h"

#include <string.h>

enum { MOST_TOLD = 10, LINE_BYTES = 1024 };

void plim_report_sweep_row(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_table *table, size_t row,
                           const char *text)
{
    char line[LINE_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < sweep->n_variables && n < sizeof line; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s=%s", i ? " " : "", sweep->variable[i],
                              table->cell[row][i]);
    if (n < sizeof line)
        snprintf(line + n, sizeof line - n, ": %s", text);
    plim_print_wrapped(out, line, 0, 2);
}

static size_t count(const struct plim_sweep_table *table, enum plim_sweep_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_wanted; i++)
        n += table->status[i] == status;
    return n;
}

/* A figure that no answer has is likely one with another name. */
static void tell_empty(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_table *table)
{
    for (size_t c = 0; c < sweep->n_columns; c++) {
        bool is_empty = true;
        for (size_t i = 0; i < table->n_wanted && is_empty; i++)
            is_empty = !table->cell[i][sweep->n_variables + c][0];
        if (is_empty && count(table, PLIM_SWEEP_OK))
            plim_print(out, "no answer has a value for the column %s\n", sweep->column[c].name);
    }
}

void plim_report_sweep_text(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_table *table)
{
    const size_t n_failed = count(table, PLIM_SWEEP_FAILED), n_open = count(table, PLIM_SWEEP_OPEN);
    plim_print(out, "%s: %zu of %zu rows have an answer", table->path, count(table, PLIM_SWEEP_OK), table->n_wanted);
    if (n_failed)
        plim_print(out, ", %zu failed", n_failed);
    if (n_open)
        plim_print(out, ", %zu not run", n_open);
    plim_print(out, "\n");
    for (size_t i = 0, n_told = 0; i < table->n_wanted && n_told < MOST_TOLD; i++)
        if (table->status[i] == PLIM_SWEEP_FAILED) {
            plim_report_sweep_row(out, sweep, table, i, table->cell[i][table->first_ours + 3]);
            n_told++;
        }
    if (n_failed > MOST_TOLD)
        plim_print(out, "... and %zu more\n", n_failed - MOST_TOLD);
    if (n_failed)
        plim_print(out, "the logs of failed rows are in %s.logs; --retry runs them again\n", table->path);
    if (table->n_rows > table->n_wanted)
        plim_print(out, "%zu more rows of the table are of an older version of the sweep\n",
                   table->n_rows - table->n_wanted);
    tell_empty(out, sweep, table);
}

/* As a shell takes it. */
static void print_word(FILE *out, const char *word)
{
    const bool is_plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                      "-_=+:,./@%^")];
    if (is_plain) {
        plim_print(out, "%s", word);
        return;
    }
    plim_print(out, "'");
    for (const char *c = word; *c;) {
        const size_t n = strcspn(c, "'");
        plim_print_part(out, c, n);
        c += n;
        if (*c) {
            plim_print(out, "'\\''");
            c++;
        }
    }
    plim_print(out, "'");
}

void plim_report_sweep_plan(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_rows *rows,
                            const struct plim_sweep_table *table)
{
    for (size_t i = 0; i < table->n_wanted; i++) {
        const char *values[PLIM_SWEEP_MAX_VARIABLES];
        struct plim_arena arena;
        if (table->status[i] != PLIM_SWEEP_OPEN)
            continue;
        plim_arena_init(&arena, PLIM_MAX_SWEEP_MEMORY_BYTES);
        plim_sweep_row_values(sweep, rows->row[i].number, values);
        char **arguments = plim_sweep_arguments(&arena, sweep, values, sweep->words[0], "LOG");
        for (char **a = arguments; a && *a; a++) {
            plim_print(out, "%s", a == arguments ? "" : " ");
            print_word(out, *a);
        }
        plim_print(out, "\n");
        plim_arena_done(&arena);
    }
}

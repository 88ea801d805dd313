/* SPDX-License-Identifier: MIT */
#include "sweep/table.h"

#include "base/error.h"
#include "base/limits.h"
#include "sweep/csv.h"
#include "sweep/table_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUR_STATUS, OUR_EXIT, OUR_SECONDS, OUR_REASON, OUR_KEY, N_OURS };
static const char *const ours[N_OURS] = { "status", "exit", "seconds", "reason", "key" };

const char *plim_sweep_status_name(enum plim_sweep_status status)
{
    static const char *const names[PLIM_SWEEP_STATUS_MAX_] = { "", "ok", "failed" };
    return names[status];
}

static int no_memory(const struct plim_sweep_table *table, struct plim_error *reterr)
{
    return table->arena.is_full
               ? plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the table of the sweep is too large")
               : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

static size_t find(const char *const *names, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* --- the columns --- */

/* Variables, figures, figures of older versions of the sweep, ours. */
static int make_names(struct plim_sweep_table *table, const struct plim_sweep *sweep, const struct plim_csv *old,
                      struct plim_error *reterr)
{
    const size_t most = sweep->n_variables + sweep->n_columns + old->n_columns + N_OURS;
    table->name = plim_arena_alloc(&table->arena, most, sizeof *table->name);
    if (!table->name)
        return no_memory(table, reterr);
    for (size_t i = 0; i < sweep->n_variables; i++)
        table->name[table->n_names++] = sweep->variable[i];
    for (size_t i = 0; i < sweep->n_columns; i++)
        table->name[table->n_names++] = sweep->column[i].name;
    for (size_t i = 0; i < old->n_columns; i++)
        if (find(table->name, table->n_names, old->cell[i]) == table->n_names &&
            find(ours, N_OURS, old->cell[i]) == N_OURS)
            table->name[table->n_names++] = old->cell[i];
    table->first_ours = table->n_names;
    for (size_t i = 0; i < N_OURS; i++)
        table->name[table->n_names++] = ours[i];
    return 0;
}

/* It has all variables, and our columns. */
static int check_old(const struct plim_sweep *sweep, const struct plim_csv *old, const char *path,
                     struct plim_error *reterr)
{
    const char *missing = NULL;
    for (size_t i = 0; i < sweep->n_variables && old->n_rows && !missing; i++)
        if (find(old->cell, old->n_columns, sweep->variable[i]) == old->n_columns)
            missing = sweep->variable[i];
    for (size_t i = 0; i < N_OURS && old->n_rows && !missing; i++)
        if (find(old->cell, old->n_columns, ours[i]) == old->n_columns)
            missing = ours[i];
    if (!missing)
        return 0;
    plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the file is of another sweep: it has no column '%s'", missing);
    plim_error_hint(reterr, "write another file with --output, or move this one away");
    plim_error_where(reterr, path);
    return PLIM_E_CORRUPT;
}

/* --- the rows --- */

struct old_row {
    const char *key;
    const char **cells;
    bool is_taken;
};

static int by_key(const void *a, const void *b)
{
    const struct old_row *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static enum plim_sweep_status status_of(const char *word)
{
    for (int i = 0; i < PLIM_SWEEP_STATUS_MAX_; i++)
        if (!strcmp(word, plim_sweep_status_name((enum plim_sweep_status)i)))
            return (enum plim_sweep_status)i;
    return PLIM_SWEEP_OPEN;
}

/* All cells "". */
static const char **empty_row(struct plim_sweep_table *table)
{
    const char **cells = plim_arena_alloc(&table->arena, table->n_names, sizeof *cells);
    for (size_t i = 0; cells && i < table->n_names; i++)
        cells[i] = "";
    return cells;
}

static void copy_cells(const struct plim_sweep_table *table, const struct plim_csv *old, const struct old_row *from,
                       const char **to)
{
    for (size_t i = 0; i < table->n_names; i++) {
        const size_t column = find(old->cell, old->n_columns, table->name[i]);
        if (column < old->n_columns)
            to[i] = from->cells[column];
    }
}

/* The old row counts: it has an answer, or has failed and is not tried again, and has all figures that are asked for.
 */
static bool is_done(const struct plim_sweep *sweep, const struct plim_csv *old, enum plim_sweep_status status,
                    bool retries)
{
    bool has_all = status == PLIM_SWEEP_OK || (status == PLIM_SWEEP_FAILED && !retries);
    for (size_t i = 0; i < sweep->n_columns; i++)
        has_all = has_all && find(old->cell, old->n_columns, sweep->column[i].name) < old->n_columns;
    return has_all;
}

static int add_wanted(struct plim_sweep_table *table, const struct plim_sweep *sweep, const struct plim_sweep_row *row,
                      const struct plim_csv *old, struct old_row *olds, size_t n_olds, bool retries)
{
    char key[24];
    const char *values[PLIM_SWEEP_MAX_VARIABLES];
    const char **cells = empty_row(table);
    const int n = snprintf(key, sizeof key, "%016" PRIx64, row->key);
    const struct old_row wanted = { .key = key };
    struct old_row *found = n_olds ? bsearch(&wanted, olds, n_olds, sizeof *olds, by_key) : NULL;
    if (!cells)
        return -1;
    enum plim_sweep_status status = PLIM_SWEEP_OPEN;
    if (found) {
        found->is_taken = true;
        status = status_of(found->cells[find(old->cell, old->n_columns, "status")]);
        if (is_done(sweep, old, status, retries))
            copy_cells(table, old, found, cells);
        else
            status = PLIM_SWEEP_OPEN;
    }
    plim_sweep_row_values(sweep, row->number, values);
    for (size_t i = 0; i < sweep->n_variables; i++)
        cells[i] = values[i];
    cells[table->first_ours + OUR_KEY] = plim_arena_copy(&table->arena, key, (size_t)n);
    table->status[table->n_rows] = status;
    table->cell[table->n_rows++] = cells;
    return cells[table->first_ours + OUR_KEY] ? 0 : -1;
}

static int add_rows(struct plim_sweep_table *table, const struct plim_sweep *sweep, const struct plim_sweep_rows *rows,
                    const struct plim_csv *old, bool retries)
{
    const size_t n_olds = old->n_rows ? old->n_rows - 1 : 0, key = find(old->cell, old->n_columns, "key");
    struct old_row *olds = plim_arena_alloc(&table->arena, n_olds + 1, sizeof *olds);
    table->cell = plim_arena_alloc(&table->arena, rows->n + n_olds + 1, sizeof *table->cell);
    table->status = plim_arena_alloc(&table->arena, rows->n + n_olds + 1, sizeof *table->status);
    if (!olds || !table->cell || !table->status)
        return -1;
    for (size_t i = 0; i < n_olds; i++) {
        const char **cells = old->cell + (i + 1) * old->n_columns;
        olds[i] = (struct old_row){ .key = cells[key], .cells = cells };
    }
    qsort(olds, n_olds, sizeof *olds, by_key);
    for (size_t i = 0; i < rows->n; i++)
        if (add_wanted(table, sweep, &rows->row[i], old, olds, n_olds, retries) < 0)
            return -1;
    table->n_wanted = table->n_rows;
    for (size_t i = 0; i < n_olds; i++) {
        const char **cells = olds[i].is_taken ? NULL : empty_row(table);
        if (olds[i].is_taken)
            continue;
        if (!cells)
            return -1;
        copy_cells(table, old, &olds[i], cells);
        table->status[table->n_rows] = status_of(cells[table->first_ours + OUR_STATUS]);
        if (table->status[table->n_rows] != PLIM_SWEEP_OPEN)
            table->cell[table->n_rows++] = cells;
    }
    return 0;
}

int plim_sweep_table_open(struct plim_sweep_table *table, const struct plim_sweep *sweep,
                          const struct plim_sweep_rows *rows, const char *path, bool retries, bool holds,
                          struct plim_error *reterr)
{
    struct plim_csv old = { .n_rows = 0 };
    const char *text = "";
    size_t length = 0;
    *table = (struct plim_sweep_table){ .path = path, .fd = -1 };
    plim_arena_init(&table->arena, PLIM_MAX_SWEEP_TABLE_MEMORY_BYTES);
    int result = plim_sweep_file_open(path, holds, &table->arena, &table->fd, &text, &length, reterr);
    result = result < 0 ? result : plim_csv_read(&table->arena, text, length, &old, reterr);
    if (result < 0)
        plim_error_where(reterr, path);
    result = result < 0 ? result : check_old(sweep, &old, path, reterr);
    result = result < 0 ? result : make_names(table, sweep, &old, reterr);
    if (result == 0 && add_rows(table, sweep, rows, &old, retries) < 0)
        result = no_memory(table, reterr);
    if (result < 0)
        plim_sweep_table_done(table);
    return result;
}

int plim_sweep_table_set(struct plim_sweep_table *table, const struct plim_sweep *sweep, size_t row,
                         const struct plim_sweep_outcome *outcome, struct plim_error *reterr)
{
    char text[32];
    const char **cells = table->cell[row], **own = cells + table->first_ours;
    bool has_all = true;
    for (size_t i = 0; i < sweep->n_columns; i++) {
        const char *value = outcome->value[i];
        cells[sweep->n_variables + i] = plim_arena_copy(&table->arena, value, strlen(value));
        has_all = has_all && cells[sweep->n_variables + i];
    }
    own[OUR_STATUS] = plim_sweep_status_name(outcome->status);
    int n = snprintf(text, sizeof text, "%d", outcome->exit_status);
    own[OUR_EXIT] = plim_arena_copy(&table->arena, text, (size_t)n);
    n = snprintf(text, sizeof text, "%.1f", outcome->seconds);
    own[OUR_SECONDS] = plim_arena_copy(&table->arena, text, (size_t)n);
    own[OUR_REASON] = plim_arena_copy(&table->arena, outcome->reason, strlen(outcome->reason));
    table->status[row] = outcome->status;
    return has_all && own[OUR_EXIT] && own[OUR_SECONDS] && own[OUR_REASON] ? 0 : no_memory(table, reterr);
}

static void write_rows(FILE *out, const void *context)
{
    const struct plim_sweep_table *table = context;
    plim_csv_write(out, table->name, table->n_names);
    for (size_t i = 0; i < table->n_rows; i++)
        plim_csv_write(out, table->cell[i], table->n_names);
}

int plim_sweep_table_write(struct plim_sweep_table *table, struct plim_error *reterr)
{
    return plim_sweep_file_replace(table->path, &table->fd, write_rows, table, reterr);
}

void plim_sweep_table_done(struct plim_sweep_table *table)
{
    plim_sweep_file_close(table->fd);
    plim_arena_done(&table->arena);
    *table = (struct plim_sweep_table){ .fd = -1 };
}

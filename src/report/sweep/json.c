/* SPDX-License-Identifier: MIT */
#include "report/json_text.h"
#include "report/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

/* Whole numbers are numbers; "" is null. */
static json_t *cell_json(const char *text)
{
    enum { MOST_DIGITS = 18 };
    const size_t n = strspn(text, "0123456789");
    if (!*text)
        return json_null();
    return n && !text[n] && n <= MOST_DIGITS ? json_integer(strtoll(text, NULL, 10)) : plim_text_json(text);
}

static json_t *row_json(const struct plim_sweep *sweep, const struct plim_sweep_table *table, size_t row)
{
    const char **cell = table->cell[row], **own = cell + table->first_ours;
    json_t *all = json_object(), *values = json_object(), *figures = json_object();
    for (size_t i = 0; i < sweep->n_variables; i++)
        json_object_set_new(values, sweep->variable[i], plim_text_json(cell[i]));
    for (size_t i = 0; i < sweep->n_columns; i++)
        json_object_set_new(figures, sweep->column[i].name, cell_json(cell[sweep->n_variables + i]));
    json_object_set_new(all, "values", values);
    json_object_set_new(all, "figures", figures);
    json_object_set_new(all, "status", plim_text_json(table->status[row] == PLIM_SWEEP_OPEN ? "open" : own[0]));
    json_object_set_new(all, "exit", *own[1] ? json_integer(strtol(own[1], NULL, 10)) : json_null());
    json_object_set_new(all, "seconds", *own[2] ? json_real(strtod(own[2], NULL)) : json_null());
    json_object_set_new(all, "reason", plim_text_or_null_json(own[3]));
    json_object_set_new(all, "key", plim_text_json(own[4]));
    return all;
}

bool plim_report_sweep_json(FILE *out, const struct plim_sweep *sweep, const struct plim_sweep_table *table)
{
    json_int_t n[PLIM_SWEEP_STATUS_MAX_] = { 0 };
    json_t *rows = json_array();
    for (size_t i = 0; i < table->n_wanted; i++) {
        n[table->status[i]]++;
        json_array_append_new(rows, row_json(sweep, table, i));
    }
    json_t *root =
        json_pack("{s:s, s:o, s:I, s:I, s:I, s:o}", "schema", "plimsoll.sweep/1", "table", plim_text_json(table->path),
                  "ok", n[PLIM_SWEEP_OK], "failed", n[PLIM_SWEEP_FAILED], "open", n[PLIM_SWEEP_OPEN], "rows", rows);
    return plim_json_write(out, root, JSON_INDENT(2));
}

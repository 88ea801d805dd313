/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/log/breakdown.h"

#include "base/units.h"
#include "engine/log_text.h"

#include <stdio.h>
#include <string.h>

enum { GPU_FIGURES = 7, HOST_FIGURES = 4 };

/* The numbers of a row, whatever stands between them. */
static unsigned read_figures(const char *text, int64_t *figures)
{
    unsigned n = 0;
    while (*text && n < GPU_FIGURES) {
        const char *end = plim_log_number(text, &figures[n]);
        n += end != NULL;
        text = end ? end : text + 1;
    }
    return n;
}

/* "CUDA0 (RTX 4060)   " */
static void read_name(const char *text, const char *end, struct plim_breakdown_row *row)
{
    size_t length = strcspn(text, " |");
    plim_log_device_id(text, length, row->id, sizeof row->id);
    const char *open = text + length + strspn(text + length, " ");
    while (end > open && (end[-1] == ' ' || end[-1] == ')'))
        end--;
    if (*open == '(' && end > open)
        snprintf(row->name, sizeof row->name, "%.*s", (int)(end - open - 1), open + 1);
}

static bool are_sizes(const int64_t *figures, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (figures[i] < 0 || figures[i] >= (int64_t)1 << 40)
            return false;
    return true;
}

static bool fill_row(const int64_t *f, unsigned n, struct plim_breakdown_row *row)
{
    const int64_t *self = n == GPU_FIGURES ? f + 2 : f;
    if ((n != GPU_FIGURES && n != HOST_FIGURES) || !are_sizes(f, n == GPU_FIGURES ? n - 1 : n))
        return false;
    row->model_mib = (uint64_t)self[1];
    row->context_mib = (uint64_t)self[2];
    row->compute_mib = (uint64_t)self[3];
    if (n == GPU_FIGURES) {
        row->has_total = true;
        row->total_mib = (uint64_t)f[0];
        row->free_mib = (uint64_t)f[1];
        row->unaccounted_mib = f[6];
    }
    return true;
}

bool plim_breakdown_line(struct plim_breakdown *table, const char *line)
{
    if (strstr(line, "| memory breakdown [MiB]")) {
        *table = (struct plim_breakdown){ .is_open = true };
        return true;
    }
    const char *bar = table->is_open ? strchr(line, '|') : NULL;
    const char *dash = bar ? bar + 1 + strspn(bar + 1, " ") : NULL;
    if (!dash || dash[0] != '-' || dash[1] != ' ')
        return false;
    int64_t figures[GPU_FIGURES];
    struct plim_breakdown_row row = { 0 };
    const char *end = strchr(dash, '|');
    if (!end || table->n_rows == PLIM_RECEIPT_MAX_DEVICES || !fill_row(figures, read_figures(end, figures), &row))
        return false;
    read_name(dash + 2, end, &row);
    table->row[table->n_rows++] = row;
    return true;
}

bool plim_breakdown_is_estimate(const struct plim_breakdown *table)
{
    for (uint32_t i = 0; i < table->n_rows; i++)
        if (table->row[i].has_total && table->row[i].unaccounted_mib < 0)
            return true;
    return false;
}

/* Rounded down to a whole MiB. */
static void add_whole(struct plim_receipt_device *device, enum plim_pillar pillar, const char *label, uint64_t mib)
{
    const uint64_t most_bytes = PLIM_RECEIPT_MAX_BYTES, rest_bytes = PLIM_MIB - 1; /* whatever a log says */
    plim_receipt_add(device, pillar, label, mib < most_bytes / PLIM_MIB ? mib * PLIM_MIB : most_bytes, 0);
    struct plim_receipt_line *line = plim_receipt_line(device, label);
    if (line)
        line->high_bytes = line->high_bytes < most_bytes - rest_bytes ? line->high_bytes + rest_bytes : most_bytes;
}

void plim_breakdown_add(const struct plim_breakdown *table, bool with_lines, struct plim_receipt *receipt)
{
    bool is_estimate = plim_breakdown_is_estimate(table);
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const struct plim_breakdown_row *row = &table->row[i];
        struct plim_receipt_device *device = plim_receipt_device(receipt, row->id);
        if (row->name[0])
            snprintf(device->name, sizeof device->name, "%s", row->name);
        device->total_bytes = row->total_mib * PLIM_MIB;
        if (with_lines) {
            add_whole(device, PLIM_PILLAR_WEIGHTS, "model buffer", row->model_mib);
            add_whole(device, PLIM_PILLAR_KV_CACHE, "context", row->context_mib);
            add_whole(device, PLIM_PILLAR_ACTIVATIONS, "compute buffer", row->compute_mib);
        }
        /* some versions print a difference that has wrapped around */
        if (row->has_total && !is_estimate && (uint64_t)row->unaccounted_mib <= row->total_mib)
            add_whole(device, PLIM_PILLAR_OVERHEAD, "unaccounted", (uint64_t)row->unaccounted_mib);
    }
}

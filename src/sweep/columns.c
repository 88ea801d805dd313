/* SPDX-License-Identifier: MIT */
#include "sweep/columns.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * A path names members and numbers of items, divided by points; '*' stands for all items but the host's, of which the
 * largest number counts, or the first text.
 */
static const struct {
    const char *name, *schema, *path;
} known[] = {
    { "peak_bytes", "plimsoll.receipt/1", "devices.*.peak_bytes" },
    { "peak_bytes", "plimsoll.fit/1", "devices.*.need_bytes" },
    { "peak_low", "plimsoll.receipt/1", "devices.*.peak_low" },
    { "peak_low", "plimsoll.fit/1", "devices.*.need_low" },
    { "peak_high", "plimsoll.receipt/1", "devices.*.peak_high" },
    { "peak_high", "plimsoll.fit/1", "devices.*.need_high" },
    { "peak_basis", "plimsoll.receipt/1", "devices.*.peak_basis" },
    { "total_bytes", "", "devices.*.total_bytes" },
    { "allocated_bytes", "plimsoll.receipt/1", "devices.*.pytorch.allocated_peak_bytes" },
    { "allocated_bytes", "plimsoll.fit/1", "step.allocated_peak_bytes" },
    { "active_bytes", "plimsoll.receipt/1", "devices.*.pytorch.active_peak_bytes" },
    { "reserved_bytes", "plimsoll.receipt/1", "devices.*.pytorch.reserved_peak_bytes" },
    { "reserved_bytes", "plimsoll.fit/1", "step.reserved_peak_bytes" },
    { "pytorch_basis", "plimsoll.receipt/1", "devices.*.pytorch.basis" },
    { "host_bytes", "plimsoll.receipt/1", "host.peak_rss_bytes" },
    { "pinned_bytes", "plimsoll.receipt/1", "host.pinned_peak_bytes" },
    { "end", "plimsoll.receipt/1", "end" },
    { "path", "plimsoll.receipt/1", "path.verdict" },
    { "verdict", "plimsoll.fit/1", "verdict" },
    { "verdict", "plimsoll.receipt/1", NULL }, /* receipt_verdict() */
};
enum { N_KNOWN = sizeof known / sizeof *known };

bool plim_sweep_column_is_known(const char *name)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (!strcmp(name, known[i].name))
            return true;
    return false;
}

bool plim_sweep_column_is_ours(const char *name) { return plim_text_has_word("status exit seconds reason key", name); }

/* --- paths --- */

struct found {
    char *text; /* PLIM_SWEEP_CELL_BYTES; "" so far */
    bool is_number;
    double number; /* the largest */
};

static void take(const json_t *value, struct found *found)
{
    const bool is_number = json_is_number(value);
    const double number = json_number_value(value);
    if (found->text[0] && !(is_number && found->is_number && number > found->number))
        return;
    if (json_is_integer(value))
        snprintf(found->text, PLIM_SWEEP_CELL_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(found->text, PLIM_SWEEP_CELL_BYTES, "%.6f", number);
    else if (json_is_boolean(value))
        snprintf(found->text, PLIM_SWEEP_CELL_BYTES, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_string(value))
        snprintf(found->text, PLIM_SWEEP_CELL_BYTES, "%s", json_string_value(value));
    found->is_number = is_number;
    found->number = number;
}

static bool is_host(const json_t *item)
{
    const char *id = json_string_value(json_object_get(item, "id"));
    return id && !strcmp(id, "host");
}

static void look(const json_t *value, const char *path, struct found *found)
{
    enum { PART_BYTES = 128, MOST_PARTS = 16 };
    for (int part = 0; value && *path; part++) {
        char name[PART_BYTES];
        const size_t n = strcspn(path, ".");
        if (n >= sizeof name || part == MOST_PARTS)
            return;
        memcpy(name, path, n);
        name[n] = '\0';
        path += n + (path[n] == '.');
        if (json_is_array(value) && !strcmp(name, "*")) {
            for (size_t i = 0; i < json_array_size(value); i++)
                if (!is_host(json_array_get(value, i)))
                    look(json_array_get(value, i), path, found); /* a '*' of the path is spent: not deeper than it */
            return;
        }
        size_t index = 0;
        for (const char *c = name; *c >= '0' && *c <= '9' && index < (1 << 20); c++)
            index = index * 10 + (size_t)(*c - '0');
        const bool is_index = json_is_array(value) && name[0] && strspn(name, "0123456789") == n;
        value = is_index ? json_array_get(value, index) : json_object_get(value, name);
    }
    if (value)
        take(value, found);
}

/* --- receipts --- */

static const char *text_of(const json_t *document, const char *key)
{
    const char *text = json_string_value(json_object_get(document, key));
    return text ? text : "";
}

static bool is_receipt(const json_t *document) { return !strcmp(text_of(document, "schema"), "plimsoll.receipt/1"); }

/* As the gate of a rehearsal has it: what may be more is no proof. */
static const char *receipt_verdict(const json_t *document)
{
    const char *end = text_of(document, "end"), *path = text_of(json_object_get(document, "path"), "verdict");
    const bool is_good = plim_text_has_word("completed recovered reached", end),
               is_sure = !plim_text_has_word("guessed incomplete", path);
    return !strcmp(end, "out_of_memory") ? "no" : is_good && is_sure ? "fits" : "unknown";
}

void plim_sweep_column_value(const struct plim_sweep_column *column, const json_t *document,
                             char ret_text[PLIM_SWEEP_CELL_BYTES])
{
    struct found found = { .text = ret_text };
    ret_text[0] = '\0';
    if (column->path)
        look(document, column->path, &found);
    for (size_t i = 0; !column->path && i < N_KNOWN && !ret_text[0]; i++) {
        const char *schema = text_of(document, "schema");
        if (strcmp(known[i].name, column->name) != 0 || (known[i].schema[0] && strcmp(known[i].schema, schema) != 0))
            continue;
        if (known[i].path)
            look(document, known[i].path, &found);
        else
            snprintf(ret_text, PLIM_SWEEP_CELL_BYTES, "%s", receipt_verdict(document));
    }
}

bool plim_sweep_is_answer(const json_t *document, int exit_status, char ret_reason[PLIM_SWEEP_CELL_BYTES])
{
    const char *schema = text_of(document, "schema"), *end_line = text_of(document, "end_line");
    if (is_receipt(document) && text_of(document, "end")[0]) {
        snprintf(ret_reason, PLIM_SWEEP_CELL_BYTES, "%s", end_line[0] ? end_line : text_of(document, "end"));
        return plim_text_has_word("completed recovered reached out_of_memory", text_of(document, "end"));
    }
    snprintf(ret_reason, PLIM_SWEEP_CELL_BYTES, "it failed");
    const int most = !strncmp(schema, "plimsoll.", 9) ? 1 : 0; /* 1 is the answer "no" */
    return exit_status >= 0 && exit_status <= most;
}

uint64_t plim_sweep_host_bytes(const json_t *document)
{
    const json_t *value = json_object_get(json_object_get(document, "host"), "peak_rss_bytes");
    return json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

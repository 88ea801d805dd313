/* SPDX-License-Identifier: MIT */
/* plimsoll.check/1 and plimsoll.receipt/1, as docs/json.md has them. */
#include "engine/type.h"
#include "report/receipt/check.h"
#include "report/receipt/receipt_json.h"
#include "report/setup_json.h"

#include <jansson.h>

static json_t *bytes_or_null(uint64_t n, bool is_known) { return is_known ? plim_bytes_json(n) : json_null(); }

static bool dump(FILE *out, json_t *root) { return plim_json_write(out, root, JSON_INDENT(2) | JSON_PRESERVE_ORDER); }

static json_t *setting_json(const struct plim_receipt_setting *setting)
{
    if (!setting)
        return json_null();
    return setting->kind == PLIM_SETTING_TEXT      ? plim_text_json(setting->text)
           : setting->kind == PLIM_SETTING_BOOL    ? json_boolean(setting->integer)
           : setting->kind == PLIM_SETTING_INTEGER ? json_integer(setting->integer)
                                                   : json_null();
}

/* The settings that the engine's receipts can have; unknown is null. */
json_t *plim_setup_json(const struct plim_receipt *receipt)
{
    const struct plim_engine_type *type = plim_report_engine_type(receipt);
    json_t *setup = json_object();
    for (size_t i = 0; setup && i < type->n_options; i++)
        if (type->options[i].is_compared)
            json_object_set_new(setup, type->options[i].key,
                                setting_json(plim_settings_find(&receipt->settings, type->options[i].key)));
    return setup;
}

json_t *plim_engine_json(const struct plim_receipt *receipt)
{
    return json_pack("{s:o, s:o}", "name", plim_text_or_null_json(receipt->engine), "version",
                     plim_text_or_null_json(receipt->version));
}

/* --- receipt --- */

static json_t *receipt_device_json(const struct plim_receipt_device *device, bool is_lower_bound)
{
    const struct plim_receipt_sums sums = plim_receipt_sum_lines(device);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:[]}", "id", plim_text_json(device->id), "name",
                     plim_text_or_null_json(device->name), "total_bytes",
                     bytes_or_null(device->total_bytes, device->total_bytes), "peak_bytes", plim_bytes_json(sums.bytes),
                     "peak_low", plim_bytes_json(sums.low_bytes), "peak_high",
                     bytes_or_null(sums.high_bytes, !is_lower_bound), "peak_basis",
                     is_lower_bound ? "lower_bound" : "exact", "lines", plim_receipt_lines_json(device), "timeline");
}

bool plim_report_receipt_json(FILE *out, const struct plim_receipt *receipt)
{
    json_t *devices = json_array();
    for (uint32_t i = 0; devices && i < receipt->n_devices; i++)
        if (receipt->device[i].n_lines)
            json_array_append_new(devices, receipt_device_json(&receipt->device[i], receipt->is_lower_bound));
    return dump(out,
                json_pack("{s:s, s:o, s:n, s:n, s:n, s:n, s:n, s:o, s:n, s:n, s:[], s:o, s:{s:o}, s:o, s:b, "
                          "s:b, s:i, s:o}",
                          "schema", "plimsoll.receipt/1", "from", plim_text_json(receipt->from), "command", "card",
                          "exit_code", "oom", "stopped_by", "devices", devices, "host", "oom_at", "warnings", "engine",
                          plim_engine_json(receipt), "model", "name", plim_text_or_null_json(receipt->model), "setup",
                          plim_setup_json(receipt), "complete", receipt->is_whole, "is_estimate", receipt->is_estimate,
                          "n_starts", (int)receipt->n_starts, "kv_tokens",
                          receipt->kv_n_tokens >= 0 ? json_integer(receipt->kv_n_tokens) : json_null()));
}

/* --- check --- */

static json_t *line_json(const struct plim_check_line *line)
{
    const bool is_both = line->has_bill && line->has_receipt;
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "pillar", plim_pillar_name(line->pillar), "label",
        plim_text_json(line->label), "bill_bytes", bytes_or_null(line->bill_bytes, line->has_bill), "low",
        bytes_or_null(line->low_bytes, line->has_bill), "high", bytes_or_null(line->high_bytes, line->has_bill),
        "receipt_bytes", bytes_or_null(line->receipt_bytes, line->has_receipt), "difference_bytes",
        is_both ? json_integer(plim_check_difference_bytes(line)) : json_null(), "in_band",
        line->has_receipt ? json_boolean(line->is_in_band) : json_null(), "basis",
        line->has_bill ? plim_text_json(plim_basis_name(line->basis)) : json_null(), "counts", line->is_judged);
}

static json_t *device_json(const struct plim_check_device *device)
{
    json_t *lines = json_array();
    for (uint32_t i = 0; lines && i < device->n_lines; i++)
        json_array_append_new(lines, line_json(&device->line[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "id", plim_text_json(device->id), "name",
                     plim_text_or_null_json(device->name), "bill_bytes", plim_bytes_json(device->bill_bytes),
                     "receipt_bytes", plim_bytes_json(device->receipt_bytes), "lines", lines);
}

bool plim_report_check_json(FILE *out, const struct plim_check_sides *sides)
{
    const struct plim_check *check = sides->check;
    json_t *devices = json_array(), *differs = json_array();
    for (uint32_t i = 0; devices && i < check->n_devices; i++)
        json_array_append_new(devices, device_json(&check->device[i]));
    for (uint32_t i = 0; differs && i < check->n_differs; i++)
        json_array_append_new(
            differs, json_pack("{s:o, s:o, s:o}", "name", plim_text_json(check->differs[i]), "bill",
                               setting_json(plim_settings_find(&sides->bill->settings, check->differs[i])), "receipt",
                               setting_json(plim_settings_find(&sides->receipt->settings, check->differs[i]))));
    return dump(out, json_pack("{s:s, s:o, s:b, s:b, s:b, s:o, s:o}", "schema", "plimsoll.check/1", "devices", devices,
                               "agrees", check->agrees, "lower_bound", sides->receipt->is_lower_bound, "complete",
                               sides->receipt->is_whole, "from", plim_text_json(sides->receipt->from), "setup_differs",
                               differs));
}

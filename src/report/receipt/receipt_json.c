/* SPDX-License-Identifier: MIT */
#include "report/receipt/receipt_json.h"

json_t *plim_bytes_json(uint64_t n) { return json_integer((json_int_t)(n < INT64_MAX ? n : INT64_MAX)); }

json_t *plim_pillar_json(enum plim_pillar pillar)
{
    return pillar < PLIM_PILLAR_MAX_ ? plim_text_json(plim_pillar_name(pillar)) : json_null();
}

static json_t *line_json(const struct plim_receipt_line *line)
{
    json_t *object =
        json_pack("{s:o, s:o}", "pillar", plim_pillar_json(line->pillar), "label", plim_text_json(line->label));
    if (line->kind)
        json_object_set_new(object, "what", plim_text_json(plim_allocation_name(line->kind)));
    json_object_set_new(object, "bytes", plim_bytes_json(line->bytes));
    json_object_set_new(object, "low", plim_bytes_json(line->low_bytes));
    json_object_set_new(object, "high", plim_bytes_json(line->high_bytes));
    json_object_set_new(object, "basis", plim_text_json(plim_basis_name(line->basis)));
    if (line->kind)
        json_object_set_new(object, "why", plim_text_json(plim_allocation_why(line->kind)));
    return object;
}

json_t *plim_receipt_lines_json(const struct plim_receipt_device *device)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < device->n_lines; i++)
        json_array_append_new(list, line_json(&device->line[i]));
    return list;
}

struct plim_receipt_sums plim_receipt_sum_lines(const struct plim_receipt_device *device)
{
    struct plim_receipt_sums sums = { 0 };
    for (uint32_t i = 0; i < device->n_lines; i++) {
        sums.bytes += device->line[i].bytes;
        sums.low_bytes += device->line[i].low_bytes;
        sums.high_bytes += device->line[i].high_bytes;
    }
    return sums;
}

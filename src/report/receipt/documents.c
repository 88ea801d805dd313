/* SPDX-License-Identifier: MIT */
#include "report/receipt/documents.h"

#include "engine/log.h"
#include "engine/option.h"
#include "rehearse/end/end.h"
#include "report/receipt/check.h"

#include <jansson.h>
#include <string.h>

bool plim_document_is_near(const char *text, size_t length)
{
    static const char word[] = "\"plimsoll.";
    size_t start = 0, n = sizeof word - 1;
    while (start < length && strchr(" \t\r\n", text[start]) && text[start])
        start++;
    if (start == length || text[start] != '{')
        return false;
    for (size_t i = start; i + n <= length; i++)
        if (!memcmp(text + i, word, n))
            return true;
    return false;
}

/* --- fields; one that is missing or of another type is unknown --- */

static void copy_text(const json_t *object, const char *key, char *buffer, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    if (!value)
        return;
    snprintf(buffer, size, "%s", value);
}

static uint64_t count(const json_t *object, const char *key, uint64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_integer_value(value);
    return json_is_integer(value) && number >= 0 ? (uint64_t)number : otherwise;
}

/* null: unknown */
static enum plim_pillar pillar_named(const char *name)
{
    for (int i = 0; name && i < PLIM_PILLAR_MAX_; i++)
        if (!strcmp(name, plim_pillar_name((enum plim_pillar)i)))
            return (enum plim_pillar)i;
    return PLIM_PILLAR_MAX_;
}

static enum plim_basis basis_named(const char *name)
{
    for (int i = 0; name && i < PLIM_BASIS_MAX_; i++)
        if (!strcmp(name, plim_basis_name((enum plim_basis)i)))
            return (enum plim_basis)i;
    return PLIM_BASIS_MEASURED;
}

/* --- parts --- */

/* The settings that are compared: those which the engine's receipts have. */
static void read_setup(json_t *setup, struct plim_receipt *receipt)
{
    const struct plim_engine_type *engine = plim_report_engine_type(receipt);
    struct plim_receipt_settings *settings = &receipt->settings;
    const char *key;
    json_t *value;
    enum plim_dtype type;
    json_object_foreach(setup, key, value)
    {
        const struct plim_option *option = plim_option_with_key(engine, key);
        if (!option || !option->is_compared)
            continue;
        if (json_is_boolean(value))
            plim_settings_put_bool(settings, key, json_is_true(value));
        else if (json_is_integer(value) && json_integer_value(value) >= 0)
            plim_settings_put_integer(settings, key, json_integer_value(value));
        else if (json_is_string(value) && (type = plim_dtype_named(json_string_value(value))) != PLIM_DTYPE_UNKNOWN)
            plim_settings_put_text(settings, key, plim_dtype_name(type));
        else if (json_is_string(value))
            plim_settings_put_text(settings, key, json_string_value(value));
    }
}

static void read_line(const json_t *value, struct plim_receipt_device *device)
{
    const char *label = json_string_value(json_object_get(value, "label"));
    uint64_t bytes = count(value, "bytes", UINT64_MAX);
    if (!label || bytes == UINT64_MAX || device->n_lines == PLIM_RECEIPT_MAX_LINES)
        return;
    plim_receipt_add(device, pillar_named(json_string_value(json_object_get(value, "pillar"))), label, bytes, 0);
    struct plim_receipt_line *line = &device->line[device->n_lines - 1];
    if (line->bytes != bytes) /* a repeated label: a sum without a band */
        return;
    uint64_t low = count(value, "low", bytes), high = count(value, "high", bytes);
    line->low_bytes = low < bytes ? low : bytes;
    line->high_bytes = high < bytes ? bytes : high < PLIM_RECEIPT_MAX_BYTES ? high : PLIM_RECEIPT_MAX_BYTES;
    line->basis = basis_named(json_string_value(json_object_get(value, "basis")));
    line->kind = plim_allocation_named(json_string_value(json_object_get(value, "what")));
}

static void read_devices(const json_t *devices, struct plim_receipt *receipt)
{
    size_t i, k;
    const json_t *value, *line;
    json_array_foreach((json_t *)(uintptr_t)devices, i, value)
    {
        char id[PLIM_RECEIPT_ID_BYTES] = "";
        copy_text(value, "id", id, sizeof id);
        if (!id[0])
            continue;
        struct plim_receipt_device *device = plim_receipt_device(receipt, id);
        copy_text(value, "name", device->name, sizeof device->name);
        device->total_bytes = count(value, "total_bytes", 0);
        if (strcmp(receipt->from, "log") != 0) /* in the document of a log it is the sum of the lines */
            device->peak_bytes = count(value, "peak_bytes", 0);
        json_array_foreach(json_object_get(value, "lines"), k, line) read_line(line, device);
    }
}

/* Of a rehearsal: pinned memory. */
static void read_host(const json_t *host, struct plim_receipt *receipt)
{
    size_t i;
    const json_t *line;
    json_array_foreach(json_object_get(host, "lines"), i, line) read_line(line, plim_receipt_device(receipt, "host"));
}

static int fail(int code, const char *what, const char *hint, struct plim_error *reterr)
{
    code = plim_fail(reterr, code, PLIM_NO_OFFSET, "%s", what);
    plim_error_hint(reterr, "%s", hint);
    return code;
}

/* Of a rehearsal: the verdict on its path, and its end, which older receipts do not have. */
static bool is_lower_bound(const json_t *root)
{
    const char *verdict = json_string_value(json_object_get(json_object_get(root, "path"), "verdict"));
    const char *end = json_string_value(json_object_get(root, "end"));
    return (verdict && (!strcmp(verdict, "guessed") || !strcmp(verdict, "incomplete"))) ||
           (end && !plim_end_is_good(plim_end_named(end)));
}

static int read_root(const json_t *root, struct plim_receipt *receipt, struct plim_error *reterr)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const bool is_bill = schema && !strcmp(schema, "plimsoll.fit/1");
    if (schema && !strcmp(schema, "plimsoll.fits/1"))
        return fail(PLIM_E_UNSUPPORTED, "several bills in one document",
                    "ask 'plimsoll fit --json' for one MODEL, with --card or --budget", reterr);
    if (!is_bill && !(schema && !strcmp(schema, "plimsoll.receipt/1")))
        return fail(PLIM_E_UNSUPPORTED, "neither a bill nor a receipt",
                    "the schema has to be plimsoll.fit/1 or plimsoll.receipt/1", reterr);
    plim_receipt_init(receipt, "", is_bill ? "bill" : "");
    copy_text(json_object_get(root, "engine"), "name", receipt->engine, sizeof receipt->engine);
    copy_text(json_object_get(root, "engine"), "version", receipt->version, sizeof receipt->version);
    copy_text(json_object_get(root, "model"), "name", receipt->model, sizeof receipt->model);
    if (!is_bill)
        copy_text(root, "from", receipt->from, sizeof receipt->from);
    if (!is_bill && !strcmp(receipt->from, "bill"))
        receipt->from[0] = '\0';
    if (!strcmp(receipt->from, "log"))
        receipt->labels = plim_log_labels(receipt->engine);
    read_setup(json_object_get(root, "setup"), receipt);
    read_devices(json_object_get(root, "devices"), receipt);
    read_host(json_object_get(root, "host"), receipt);
    const json_t *is_whole = json_object_get(root, "complete");
    receipt->is_whole = !is_whole || json_is_true(is_whole);
    receipt->is_lower_bound = is_lower_bound(root);
    receipt->is_estimate = json_is_true(json_object_get(root, "is_estimate"));
    receipt->kv_n_tokens = (int64_t)count(root, "kv_tokens", (uint64_t)-1);
    receipt->n_starts = (uint32_t)(count(root, "n_starts", 1) & UINT32_MAX);
    return receipt->n_devices
               ? 0
               : fail(PLIM_E_CORRUPT, "the document has no devices", "write it again with --json", reterr);
}

int plim_document_read(const char *text, size_t length, struct plim_receipt *ret_receipt, struct plim_error *reterr)
{
    json_error_t error;
    json_t *root = json_loadb(text, length, 0, &error);
    if (!root) {
        int code = plim_fail(reterr, PLIM_E_CORRUPT, error.position >= 0 ? (uint64_t)error.position : PLIM_NO_OFFSET,
                             "not JSON: %s", error.text);
        plim_error_hint(reterr, "write it again with --json");
        return code;
    }
    int result = read_root(root, ret_receipt, reterr);
    json_decref(root);
    return result;
}

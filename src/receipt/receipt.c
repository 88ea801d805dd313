/* SPDX-License-Identifier: MIT */
#include "receipt/receipt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void plim_receipt_init(struct plim_receipt *receipt, const char *engine, const char *from)
{
    memset(receipt, 0, sizeof *receipt);
    snprintf(receipt->engine, sizeof receipt->engine, "%s", engine);
    snprintf(receipt->from, sizeof receipt->from, "%s", from);
    receipt->kv_n_tokens = -1;
}

const struct plim_receipt_device *plim_receipt_find(const struct plim_receipt *receipt, const char *id)
{
    for (uint32_t i = 0; i < receipt->n_devices; i++)
        if (!strcmp(receipt->device[i].id, id))
            return &receipt->device[i];
    return NULL;
}

struct plim_receipt_device *plim_receipt_device(struct plim_receipt *receipt, const char *id)
{
    for (uint32_t i = 0; i < receipt->n_devices; i++)
        if (!strncmp(receipt->device[i].id, id, PLIM_RECEIPT_ID_BYTES - 1))
            return &receipt->device[i];
    if (receipt->n_devices == PLIM_RECEIPT_MAX_DEVICES)
        return &receipt->device[PLIM_RECEIPT_MAX_DEVICES - 1];
    struct plim_receipt_device *device = &receipt->device[receipt->n_devices++];
    snprintf(device->id, sizeof device->id, "%.*s", PLIM_RECEIPT_ID_BYTES - 1, id);
    return device;
}

struct plim_receipt_line *plim_receipt_line(struct plim_receipt_device *device, const char *label)
{
    for (uint32_t i = 0; i < device->n_lines; i++)
        if (!strncmp(device->line[i].label, label, PLIM_RECEIPT_LABEL_BYTES - 1))
            return &device->line[i];
    return NULL;
}

/* Whatever a hostile log says, the sum stays in range. */
static uint64_t sum(uint64_t a, uint64_t b)
{
    const uint64_t most = PLIM_RECEIPT_MAX_BYTES;
    a = a < most ? a : most;
    return b < most - a ? a + b : most;
}

void plim_receipt_add(struct plim_receipt_device *device, enum plim_pillar pillar, const char *label, uint64_t bytes,
                      uint64_t half_bytes)
{
    struct plim_receipt_line *line = plim_receipt_line(device, label);
    if (!line && device->n_lines == PLIM_RECEIPT_MAX_LINES)
        return;
    if (!line) {
        line = &device->line[device->n_lines++];
        *line = (struct plim_receipt_line){ .pillar = pillar, .basis = PLIM_BASIS_MEASURED };
        snprintf(line->label, sizeof line->label, "%.*s", PLIM_RECEIPT_LABEL_BYTES - 1, label);
    }
    line->bytes = sum(line->bytes, bytes);
    line->low_bytes = sum(line->low_bytes, bytes > half_bytes ? bytes - half_bytes : 0);
    line->high_bytes = sum(line->high_bytes, sum(bytes, half_bytes));
}

/* gpu2 before gpu10, GPUs before the host. */
static bool is_before(const char *a, const char *b)
{
    const bool is_gpu = !strncmp(a, "gpu", 3);
    if (is_gpu && !strncmp(b, "gpu", 3))
        return strlen(a) != strlen(b) ? strlen(a) < strlen(b) : strcmp(a, b) < 0;
    return strcmp(a, b) < 0;
}

void plim_receipt_sort(struct plim_receipt *receipt)
{
    for (uint32_t i = 1; i < receipt->n_devices; i++) {
        struct plim_receipt_device device = receipt->device[i];
        uint32_t to = i;
        for (; to > 0 && is_before(device.id, receipt->device[to - 1].id); to--)
            receipt->device[to] = receipt->device[to - 1];
        receipt->device[to] = device;
    }
}

void plim_receipt_copy_engine(struct plim_receipt *receipt, const struct plim_receipt *from)
{
    memcpy(receipt->engine, from->engine, sizeof receipt->engine);
    memcpy(receipt->version, from->version, sizeof receipt->version);
    memcpy(receipt->model, from->model, sizeof receipt->model);
    receipt->settings = from->settings;
}

static void add_device(const struct plim_device_bill *from, struct plim_receipt *receipt)
{
    char id[PLIM_RECEIPT_ID_BYTES] = "host";
    if (!from->is_host)
        snprintf(id, sizeof id, "gpu%" PRIu32, from->index);
    struct plim_receipt_device *device = plim_receipt_device(receipt, id);
    device->total_bytes = from->total_bytes;
    for (uint32_t i = 0; i < from->n_lines; i++) {
        const struct plim_line *line = &from->line[i];
        plim_receipt_add(device, line->pillar, line->label, line->bytes, 0);
        struct plim_receipt_line *added = plim_receipt_line(device, line->label);
        if (added) {
            added->basis = line->basis;
            added->low_bytes = line->low_bytes;
            added->high_bytes = line->high_bytes;
        }
    }
}

static void add_setting(const struct plim_setting *from, struct plim_receipt_settings *to)
{
    if (from->kind == PLIM_SETTING_BOOL)
        plim_settings_put_bool(to, from->key, from->integer != 0);
    else if (from->kind == PLIM_SETTING_INTEGER)
        plim_settings_put_integer(to, from->key, from->integer);
    else if (from->kind == PLIM_SETTING_TEXT)
        plim_settings_put_text(to, from->key, from->text);
}

void plim_receipt_of_bill(const struct plim_bill *bill, const char *engine, struct plim_receipt *ret_receipt)
{
    plim_receipt_init(ret_receipt, engine, "bill");
    for (uint32_t i = 0; i < bill->n_devices; i++)
        add_device(&bill->device[i], ret_receipt);
    for (uint32_t i = 0; i < bill->n_settings; i++)
        add_setting(&bill->settings[i], &ret_receipt->settings);
    ret_receipt->is_whole = true;
}

/* SPDX-License-Identifier: MIT */
#include "bill/bill.h"

#include "base/numbers.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *plim_pillar_name(enum plim_pillar pillar)
{
    static const char *const names[PLIM_PILLAR_MAX_] = {
        [PLIM_PILLAR_WEIGHTS] = "weights",         [PLIM_PILLAR_KV_CACHE] = "kv_cache",
        [PLIM_PILLAR_ACTIVATIONS] = "activations", [PLIM_PILLAR_GRADIENTS] = "gradients",
        [PLIM_PILLAR_OPTIMIZER] = "optimizer",     [PLIM_PILLAR_OVERHEAD] = "overhead",
        [PLIM_PILLAR_OTHERS] = "others",
    };
    return pillar < PLIM_PILLAR_MAX_ ? names[pillar] : "unknown";
}

/* --- settings --- */

const struct plim_setting *plim_bill_setting(const struct plim_bill *bill, const char *key)
{
    for (uint32_t i = 0; i < bill->n_settings; i++)
        if (!strcmp(bill->settings[i].key, key))
            return &bill->settings[i];
    return NULL;
}

int64_t plim_bill_setting_integer(const struct plim_bill *bill, const char *key)
{
    const struct plim_setting *setting = plim_bill_setting(bill, key);
    return setting ? setting->integer : 0;
}

/* --- lines --- */

struct plim_line *plim_bill_add_band(struct plim_device_bill *device, enum plim_pillar pillar, const char *label,
                                     enum plim_basis basis, uint64_t bytes, uint64_t low_bytes, uint64_t high_bytes)
{
    if (high_bytes == 0)
        return NULL;
    device->need_bytes = plim_bytes_sum(device->need_bytes, bytes);
    device->need_low_bytes = plim_bytes_sum(device->need_low_bytes, low_bytes);
    device->need_high_bytes = plim_bytes_sum(device->need_high_bytes, high_bytes);
    if (device->n_lines == PLIM_BILL_MAX_LINES) {
        struct plim_line *last = &device->line[PLIM_BILL_MAX_LINES - 1];
        last->bytes = plim_bytes_sum(last->bytes, bytes);
        last->low_bytes = plim_bytes_sum(last->low_bytes, low_bytes);
        last->high_bytes = plim_bytes_sum(last->high_bytes, high_bytes);
        last->basis = PLIM_BASIS_ASSUMED;
        if (device->has_phases) { /* what is in it may be held at any time */
            last->is_elastic = false;
            plim_line_in_phases(device, last, 0);
        }
        return NULL;
    }
    struct plim_line *line = &device->line[device->n_lines++];
    *line = (struct plim_line){ .label = label,
                                .pillar = pillar,
                                .basis = basis,
                                .bytes = bytes,
                                .low_bytes = low_bytes,
                                .high_bytes = high_bytes,
                                .why = "" };
    return line;
}

struct plim_line *plim_bill_add(struct plim_device_bill *device, enum plim_pillar pillar, const char *label,
                                enum plim_basis basis, uint64_t bytes)
{
    return plim_bill_add_band(device, pillar, label, basis, bytes, bytes, bytes);
}

void plim_line_because(struct plim_line *line, const char *why, const uint64_t *arguments, unsigned n_arguments)
{
    if (!line)
        return;
    line->why = why;
    for (unsigned i = 0; i < n_arguments && i < PLIM_WHY_ARGUMENTS; i++)
        line->argument[i] = arguments[i];
}

void plim_line_text(struct plim_line *line, const char *text)
{
    if (line)
        line->text_argument = text;
}

static int put_argument(const struct plim_line *line, const char *spec, char *out, size_t size, size_t *ret_length)
{
    char text[PLIM_SIZE_TEXT];
    const bool is_size = spec[0] == 'b', is_type = spec[0] == 'd';
    const unsigned i = (unsigned)(spec[is_size || is_type] - '0');
    *ret_length = 1;
    if (spec[0] == 't')
        return snprintf(out, size, "%s", line->text_argument ? line->text_argument : "");
    if (i >= PLIM_WHY_ARGUMENTS)
        return snprintf(out, size, "%c", spec[0]);
    *ret_length = is_size || is_type ? 2 : 1;
    if (is_type)
        return snprintf(out, size, "%s", plim_dtype_name((enum plim_dtype)line->argument[i]));
    return is_size ? snprintf(out, size, "%s", plim_size_text(text, line->argument[i]))
                   : snprintf(out, size, "%" PRIu64, line->argument[i]);
}

char *plim_line_why(const struct plim_line *line, char buffer[PLIM_WHY_BYTES])
{
    size_t n = 0;
    buffer[0] = '\0';
    for (const char *p = line->why ? line->why : ""; *p && n < PLIM_WHY_BYTES - 1; p++) {
        if (*p != '%' || !p[1]) {
            buffer[n++] = *p;
            buffer[n] = '\0';
            continue;
        }
        size_t length;
        int written = put_argument(line, p + 1, buffer + n, PLIM_WHY_BYTES - n, &length);
        n += written > 0 ? (size_t)written : 0;
        p += length;
    }
    if (line->remark && n < PLIM_WHY_BYTES - 1)
        snprintf(buffer + n, PLIM_WHY_BYTES - n, "%s%s", n ? "; " : "", line->remark);
    return buffer;
}

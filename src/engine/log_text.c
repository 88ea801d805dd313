/* SPDX-License-Identifier: MIT */
#include "engine/log_text.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_spaces(const char *text) { return text + strspn(text, " \t"); }

const char *plim_log_after(const char *line, const char *word)
{
    const char *found = strstr(line, word);
    return found ? found + strlen(word) : NULL;
}

const char *plim_log_number(const char *text, int64_t *ret_number)
{
    text = skip_spaces(text);
    bool is_negative = *text == '-';
    int64_t number = 0;
    text += is_negative;
    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text) || (*text == ',' && is_digit(text[1])); text++) {
        if (number >= (int64_t)1 << 58)
            return NULL;
        if (*text != ',')
            number = 10 * number + (*text - '0');
    }
    *ret_number = is_negative ? -number : number;
    return text;
}

static const char *read_unit(const char *text, uint64_t *ret_unit)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = { { "GiB", PLIM_GIB }, { "MiB", PLIM_MIB }, { "KiB", PLIM_KIB }, { "TiB", PLIM_GIB << 10 },
                  { "GB", PLIM_GIB },  { "MB", PLIM_MIB },  { "B", 1 } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strncmp(text, units[i].name, strlen(units[i].name))) {
            *ret_unit = units[i].bytes;
            return text + strlen(units[i].name);
        }
    return NULL;
}

const char *plim_log_size(const char *text, struct plim_log_size *ret_size)
{
    enum { MAX_SCALE = 10000 }; /* further digits of the fraction are dropped */
    uint64_t whole = 0, fraction = 0, scale = 1, unit = 0;
    text = skip_spaces(text);
    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text); text++) {
        if (whole >= (uint64_t)1 << 48)
            return NULL;
        whole = 10 * whole + (uint64_t)(*text - '0');
    }
    if ((*text == '.' || *text == ',') && is_digit(text[1])) /* a comma in some locales */
        for (text++; is_digit(*text); text++)
            if (scale < MAX_SCALE) {
                fraction = 10 * fraction + (uint64_t)(*text - '0');
                scale *= 10;
            }
    text = read_unit(skip_spaces(text), &unit);
    if (!text || whole > ((uint64_t)1 << 62) / unit)
        return NULL;
    ret_size->bytes = whole * unit + (fraction * unit + scale / 2) / scale;
    ret_size->half_bytes = unit == 1 ? 0 : unit / scale / 2 + 1;
    return text;
}

void plim_log_device_id(const char *name, size_t length, char *buffer, size_t size)
{
    static const char *const host[] = { "CPU", "BLAS", "AMX", "ACCEL", "Host", "KleidiAI" };
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        if (length >= strlen(host[i]) && !strncmp(name, host[i], strlen(host[i]))) {
            snprintf(buffer, size, "host");
            return;
        }
    if (length >= 5 && !strncmp(name + length - 5, "_Host", 5)) { /* pinned memory */
        snprintf(buffer, size, "host");
        return;
    }
    if (length >= 3 && !strncmp(name, "RPC", 3)) { /* on another machine */
        snprintf(buffer, size, "rpc");
        return;
    }
    unsigned number = 0;
    size_t i = 0;
    while (i < length && !is_digit(name[i]))
        i++;
    for (; i < length && is_digit(name[i]) && number < 1000; i++)
        number = 10 * number + (unsigned)(name[i] - '0');
    snprintf(buffer, size, "gpu%u", number);
}

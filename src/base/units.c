/* SPDX-License-Identifier: MIT */
#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The longest number we read: 18 digits before the point and 9 after keep the arithmetic below in range. */
enum { MAX_WHOLE_DIGITS = 18, MAX_FRACTION_DIGITS = 9 };

bool plim_size_parse(const char *text, uint64_t *ret_bytes)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = { { "", 0 },     { "b", 0 },  { "k", 10 },  { "kb", 10 },  { "kib", 10 }, { "m", 20 },  { "mb", 20 },
                  { "mib", 20 }, { "g", 30 }, { "gb", 30 }, { "gib", 30 }, { "t", 40 },   { "tb", 40 }, { "tib", 40 } };
    const char *p = text;
    uint64_t whole = 0, fraction = 0, fraction_scale = 1;
    int n_whole = 0, n_fraction = 0;
    for (; isdigit((unsigned char)*p) && n_whole < MAX_WHOLE_DIGITS; p++, n_whole++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    if (*p == '.')
        for (p++; isdigit((unsigned char)*p) && n_fraction < MAX_FRACTION_DIGITS; p++, n_fraction++) {
            fraction = fraction * 10 + (uint64_t)(*p - '0');
            fraction_scale *= 10;
        }
    if (n_whole + n_fraction == 0)
        return false;
    if (*p == ' ')
        p++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(p, units[i].name))
            continue;
        unsigned shift = units[i].shift;
        if (whole >= (uint64_t)1 << (63 - shift))
            return false;
        /* fraction < 10^9 < 2^30 and shift <= 40: split the product so that it stays below 2^64 */
        unsigned first = shift > 30 ? 30 : shift, rest = shift - first;
        uint64_t product = fraction << first;
        uint64_t part = (product / fraction_scale << rest) + (product % fraction_scale << rest) / fraction_scale;
        *ret_bytes = (whole << shift) + part;
        return true;
    }
    return false;
}

char *plim_size_text(char buffer[PLIM_SIZE_TEXT], uint64_t bytes)
{
    static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (bytes < PLIM_KIB) {
        snprintf(buffer, PLIM_SIZE_TEXT, "%" PRIu64 " B", bytes);
        return buffer;
    }
    int unit = 0;
    double value = (double)bytes / 1024;
    while (value >= 1023.995 && unit < 5) {
        value /= 1024;
        unit++;
    }
    snprintf(buffer, PLIM_SIZE_TEXT, "%.*f %s", value >= 1000 ? 0 : value >= 100 ? 1 : 2, value, names[unit]);
    return buffer;
}

char *plim_size_text_signed(char buffer[PLIM_SIZE_TEXT], int64_t bytes)
{
    char plain[PLIM_SIZE_TEXT];
    uint64_t magnitude = bytes < 0 ? (uint64_t)0 - (uint64_t)bytes : (uint64_t)bytes;
    plim_size_text(plain, magnitude);
    snprintf(buffer, PLIM_SIZE_TEXT, "%c%.22s", bytes < 0 ? '-' : '+', plain);
    return buffer;
}

/* SPDX-License-Identifier: MIT */
#include "base/units.h"

#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The longest number we read: 18 digits before the point and 9 after keep the arithmetic below in range. */
enum { MAX_WHOLE_DIGITS = 18, MAX_FRACTION_DIGITS = 9 };

enum { MINUTE_S = 60, HOUR_S = 60 * MINUTE_S, DAY_S = 24 * HOUR_S };

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

/* One number and its unit; *text moves behind it. A number without a unit is seconds, and the last. */
static bool read_part(const char **text, double *ret_seconds)
{
    static const struct {
        const char *name;
        int seconds;
    } units[] = { { "min", MINUTE_S }, { "d", DAY_S }, { "h", HOUR_S }, { "m", MINUTE_S }, { "s", 1 } };
    const char *rest;
    const double value = plim_decimal(*text, &rest);
    if (rest == *text || !isdigit((unsigned char)**text))
        return false;
    *ret_seconds = value;
    *text = rest;
    if (*rest == ' ')
        rest++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].name);
        if (strncasecmp(rest, units[i].name, n))
            continue;
        *ret_seconds = value * units[i].seconds;
        *text = rest + n;
        return true;
    }
    return **text == '\0';
}

bool plim_span_parse(const char *text, int64_t *ret_seconds)
{
    static const double longest_s = 1e4 * 365 * DAY_S;
    double sum = 0, part = 0;
    do {
        if (!read_part(&text, &part) || part > longest_s)
            return false;
        sum += part;
    } while (*text);
    if (sum > longest_s)
        return false;
    *ret_seconds = (int64_t)(sum + 0.5);
    return true;
}

const char *plim_span_text(char buffer[PLIM_SPAN_TEXT_BYTES], int64_t seconds)
{
    if (seconds < 2 * MINUTE_S)
        snprintf(buffer, PLIM_SPAN_TEXT_BYTES, "%" PRId64 " s", seconds);
    else if (seconds < 2 * HOUR_S)
        snprintf(buffer, PLIM_SPAN_TEXT_BYTES, "%" PRId64 " min", (seconds + 30) / MINUTE_S);
    else if (seconds < 2 * DAY_S)
        snprintf(buffer, PLIM_SPAN_TEXT_BYTES, "%" PRId64 " h %" PRId64 " min", seconds / HOUR_S,
                 seconds % HOUR_S / MINUTE_S);
    else
        snprintf(buffer, PLIM_SPAN_TEXT_BYTES, "%.1f days", (double)seconds / DAY_S);
    return buffer;
}

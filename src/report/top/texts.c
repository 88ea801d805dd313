/* SPDX-License-Identifier: MIT */
#include "report/top/texts.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char *unknown(char buffer[PLIM_TOP_TEXT_BYTES]) { return strcpy(buffer, "?"); }

char *plim_top_bytes(char buffer[PLIM_TOP_TEXT_BYTES], int64_t bytes)
{
    return bytes < 0 ? unknown(buffer) : plim_size_text(buffer, (uint64_t)bytes);
}

char *plim_top_duration(char buffer[PLIM_TOP_TEXT_BYTES], int64_t seconds)
{
    const int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (seconds < 0)
        return unknown(buffer);
    if (seconds < 60)
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%" PRId64 "s", seconds);
    else if (hours == 0)
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%" PRId64 "m", minutes);
    else if (days == 0)
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%" PRId64 "h%02" PRId64 "m", hours, minutes % 60);
    else if (days < 100)
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%" PRId64 "d%02" PRId64 "h", days, hours % 24);
    else
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%" PRId64 "d", days);
    return buffer;
}

char *plim_top_idle(char buffer[PLIM_TOP_TEXT_BYTES], const struct plim_watch_row *row)
{
    char duration[PLIM_TOP_TEXT_BYTES];
    if (row->idle_s < 0)
        return unknown(buffer);
    plim_top_duration(duration, row->idle_s);
    snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%s%.20s", row->is_idle_at_least ? ">=" : "", duration);
    return buffer;
}

/* An estimate: from 10 MiB on in whole MiB, and no zeros at its end. */
char *plim_top_rate(char buffer[PLIM_TOP_TEXT_BYTES], int64_t bytes_per_min)
{
    char size[PLIM_SIZE_TEXT];
    const uint64_t whole = PLIM_MIB;
    const uint64_t magnitude = bytes_per_min < 0 ? 0 - (uint64_t)bytes_per_min : (uint64_t)bytes_per_min;
    const uint64_t rounded = magnitude < 10 * whole ? magnitude : (magnitude + whole / 2) / whole * whole;
    buffer[0] = '\0';
    if (bytes_per_min == 0)
        return buffer;
    plim_size_text(size, rounded);
    char *unit = strchr(size, ' '), *end = unit;
    if (memchr(size, '.', (size_t)(unit - size))) {
        while (end[-1] == '0')
            end--;
        end -= end[-1] == '.';
    }
    snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%c%.*s%s/min", bytes_per_min < 0 ? '-' : '+', (int)(end - size), size, unit);
    return buffer;
}

char *plim_top_growth(char buffer[PLIM_TOP_TEXT_BYTES], const struct plim_watch_growth *growth)
{
    char rate[PLIM_TOP_TEXT_BYTES], left[PLIM_SPAN_TEXT_BYTES];
    plim_top_rate(rate, growth->bytes_per_min);
    if (*rate && growth->trend == PLIM_TREND_GROWING && growth->full_s >= 0)
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%.24s: full in %s", rate, plim_span_text(left, growth->full_s));
    else if (*rate && growth->trend == PLIM_TREND_WARM_UP)
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%.24s, a warm-up so far", rate);
    else
        snprintf(buffer, PLIM_TOP_TEXT_BYTES, "%.24s", rate);
    return buffer;
}

const char *plim_top_stale(enum plim_stale stale)
{
    return stale == PLIM_STALE_YES ? "stale" : stale == PLIM_STALE_NO ? "no" : "?";
}

const char *plim_top_command(const struct plim_sample_process *process)
{
    const char *command = process->command ? process->command : "";
    if (process->is_gone)
        return "(ended: its memory is still held)";
    if (process->is_outside)
        return "(cannot be seen from this container)";
    const char *start = command;
    for (const char *p = command; *p && *p != ' '; p++)
        if (*p == '/' && p[1] && p[1] != ' ')
            start = p + 1;
    return *command == '/' ? start : command;
}

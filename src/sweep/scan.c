/* SPDX-License-Identifier: MIT */
#include "sweep/scan.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static size_t line_end(const struct plim_sweep_scan *scan, size_t at)
{
    const char *end = memchr(scan->text + at, '\n', scan->length - at);
    return end ? (size_t)(end - scan->text) : scan->length;
}

/* A line without text, or with a comment. */
static bool is_void(const struct plim_sweep_scan *scan, size_t at)
{
    const size_t end = line_end(scan, at);
    while (at < end && is_blank(scan->text[at]))
        at++;
    return at == end || scan->text[at] == '#';
}

static size_t next_line(const struct plim_sweep_scan *scan, size_t at)
{
    const size_t end = line_end(scan, at);
    return end < scan->length ? end + 1 : end;
}

bool plim_sweep_next(struct plim_sweep_scan *scan)
{
    size_t at = scan->end;
    while (at < scan->length && is_void(scan, at))
        at = next_line(scan, at);
    scan->at = scan->end = at;
    if (at == scan->length)
        return false;
    size_t line = next_line(scan, at);
    scan->end = line_end(scan, at);
    for (; line < scan->length; line = next_line(scan, line)) {
        if (is_void(scan, line))
            continue;
        if (scan->text[line] != ' ' && scan->text[line] != '\t')
            break;
        scan->end = line_end(scan, line);
    }
    return true;
}

void plim_sweep_blanks(struct plim_sweep_scan *scan)
{
    while (scan->at < scan->end && is_blank(scan->text[scan->at])) {
        const bool is_new_line = scan->text[scan->at++] == '\n';
        while (is_new_line && scan->at < scan->end && is_void(scan, scan->at))
            scan->at = next_line(scan, scan->at);
    }
}

bool plim_sweep_take(struct plim_sweep_scan *scan, char c)
{
    plim_sweep_blanks(scan);
    const bool is_there = scan->at < scan->end && scan->text[scan->at] == c;
    scan->at += is_there;
    return is_there;
}

size_t plim_sweep_name(struct plim_sweep_scan *scan, const char **ret_name)
{
    plim_sweep_blanks(scan);
    const size_t start = scan->at;
    *ret_name = scan->text + start;
    for (; scan->at < scan->end; scan->at++) {
        const char c = scan->text[scan->at];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (scan->at == start || c < '0' || c > '9'))
            break;
    }
    return scan->at - start;
}

int plim_sweep_fail(const struct plim_sweep_scan *scan, size_t at, const char *hint, const char *format, ...)
{
    char what[sizeof scan->err->what], where[sizeof scan->err->where + 48];
    size_t line = 1, column = 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < at && i < scan->length; i++) {
        const bool is_end = scan->text[i] == '\n', is_inside = ((unsigned char)scan->text[i] & 0xc0) == 0x80;
        line += is_end;
        column = is_end ? 1 : column + !is_inside;
    }
    plim_fail(scan->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "%s", what);
    plim_error_hint(scan->err, "%s", hint);
    snprintf(where, sizeof where, "%.200s, line %zu, column %zu", scan->name, line, column);
    plim_error_where(scan->err, where);
    return PLIM_E_CORRUPT;
}

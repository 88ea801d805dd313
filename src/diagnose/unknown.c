/* SPDX-License-Identifier: MIT */
#include "diagnose/unknown.h"

#include "base/gnu_string.h"
#include "diagnose/scan/prefix.h"
#include "diagnose/scan/window.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    END_BYTES = 64 << 10, /* what is further from the end of the log did not end the program */
    HEAD_BYTES = 100,     /* a level stands so far from the start of its line at most */
    EXCEPTION_BYTES = 80, /* the longest name of an exception, with its modules */
};

/* --- lines --- */

static bool begins(const char *text, size_t n, const char *word)
{
    return n >= strlen(word) && !memcmp(text, word, strlen(word));
}

/* A level in a form that is nothing else, near the start of the line. */
static bool has_level(const char *line, size_t n)
{
    static const char *const forms[] = { " ERROR ",     "[ERROR",      "|ERROR",  "<ERROR>",
                                         " ERROR:",     " FATAL ",     "[FATAL",  " [E] ",
                                         "level=error", "level=fatal", " [error", "\"level\":\"error\"" };
    const size_t size = n < HEAD_BYTES ? n : HEAD_BYTES;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (memmem(line, size, forms[i], strlen(forms[i])))
            return true;
    return false;
}

/* "ValueError: ...", "foo.bar.SomeException" alone: of Python, Java and their kin. */
static bool is_exception(const char *text, size_t n)
{
    static const char *const ends[] = { "Error", "Exception", "Fault" };
    size_t length = 0;
    while (length < n && length < EXCEPTION_BYTES &&
           (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.'))
        length++;
    if (length < n && text[length] != ':')
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (length >= strlen(ends[i]) && !memcmp(text + length - strlen(ends[i]), ends[i], strlen(ends[i])))
            return true;
    return false;
}

/* In capitals or not. */
static bool begins_with_any(const char *text, size_t n, const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (strlen(words[i]) <= n && !strncasecmp(text, words[i], strlen(words[i])))
            return true;
    return false;
}

/* An exception whose text does not speak of memory, nor of another process that is gone. */
static bool is_other_exception(const char *line, size_t n)
{
    static const char *const words[] = { "memory",    "alloc",   "oom",         "resource",   "exhaust",
                                         "limit",     "exceed",  "large",       "swap",       "space",
                                         "killed",    "signal",  "sigkill",     "paging",     "connection",
                                         "timed out", "timeout", "broken pipe", "reset by",   "closed",
                                         "died",      "dead",    "errno 12",    "terminated", "unexpected" };
    const size_t prefix = plim_prefix_bytes(line, n, false);
    const char *text = line + prefix;
    n -= prefix;
    if (!is_exception(text, n) || !memmem(text, n, ": ", 2))
        return false;
    for (size_t at = 0; at < n; at++)
        if (begins_with_any(text + at, n - at, words, sizeof words / sizeof *words))
            return false;
    return true;
}

/* 'Error: ""', "error: null" of a status: there was none. */
static bool is_empty_value(const char *text, size_t n)
{
    static const char *const values[] = { "\"\"", "''", "null", "None", "nil", "<nil>", "false", "0" };
    const char *colon = memchr(text, ':', n);
    size_t first = colon ? (size_t)(colon + 1 - text) : n;
    while (first < n && isspace((unsigned char)text[first]))
        first++;
    while (n > first && (isspace((unsigned char)text[n - 1]) || text[n - 1] == ','))
        n--;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (n - first == strlen(values[i]) && !memcmp(text + first, values[i], n - first))
            return true;
    return false;
}

bool plim_unknown_is_alarm(const char *line, size_t n)
{
    static const char *const words[] = { "error:",
                                         "Error:",
                                         "ERROR",
                                         "fatal:",
                                         "Fatal error",
                                         "FATAL",
                                         "panic:",
                                         "Killed",
                                         "Aborted",
                                         "terminate called after",
                                         "Segmentation fault",
                                         "Bus error",
                                         "CRITICAL",
                                         "Exception in thread",
                                         "*** SIG" };
    const size_t prefix = plim_prefix_bytes(line, n, false);
    const char *text = line + prefix;
    n -= prefix;
    if (is_empty_value(text, n))
        return false;
    if (plim_prefix_is_alarm(line, prefix) || has_level(line, prefix + n) || is_exception(text, n))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(text, n, words[i]))
            return true;
    return memmem(text, n, "(core dumped)", 13) != NULL;
}

/* --- the end of a log --- */

void plim_known_lines_reset(struct plim_known_lines *known) { known->n = 0; }

void plim_known_lines_add(struct plim_known_lines *known, const struct plim_log_buffer *b, size_t start, size_t end)
{
    const size_t i = known->n++ % PLIM_MAX_KNOWN_LINES;
    known->last[i].message_from = b->base + start;
    known->last[i].message_to = b->base + end;
    known->last[i].from = b->base + plim_log_line_start(b, start, PLIM_LOG_LINE_BYTES);
    known->last[i].to = b->base + plim_log_line_end(b, end, PLIM_LOG_LINE_BYTES);
}

static bool is_known(const struct plim_known_lines *known, uint64_t from, uint64_t to)
{
    const uint64_t n = known->n < PLIM_MAX_KNOWN_LINES ? known->n : PLIM_MAX_KNOWN_LINES;
    for (uint64_t i = 0; i < n; i++)
        if (known->last[i].from < to && from < known->last[i].to)
            return true;
    return false;
}

static bool is_in_message(const struct plim_known_lines *known, uint64_t at)
{
    const uint64_t n = known->n < PLIM_MAX_KNOWN_LINES ? known->n : PLIM_MAX_KNOWN_LINES;
    for (uint64_t i = 0; i < n; i++)
        if (known->last[i].message_from <= at && at < known->last[i].message_to)
            return true;
    return false;
}

/* In a line of `base`, beside its messages: "In the end it crashes", "I run out of memory". */
static bool tells_failure(const struct plim_known_lines *known, uint64_t base, const char *line, size_t n)
{
    static const char *const words[] = { "out of memory", "oom", "killed", "crash" };
    for (size_t at = 0; at < n; at++) {
        if (!isalpha((unsigned char)line[at]) || (at > 0 && isalpha((unsigned char)line[at - 1])))
            continue; /* not in "filled", "room", "trash" */
        if (begins_with_any(line + at, n - at, words, sizeof words / sizeof *words) && !is_in_message(known, base + at))
            return true;
    }
    return false;
}

/* From here on all known lines are kept. */
static size_t first_of(const struct plim_known_lines *known, const struct plim_log_buffer *b)
{
    uint64_t from = b->base + (b->length > END_BYTES ? b->length - END_BYTES : 0);
    if (known->n > PLIM_MAX_KNOWN_LINES && known->last[known->n % PLIM_MAX_KNOWN_LINES].from > from)
        from = known->last[known->n % PLIM_MAX_KNOWN_LINES].from;
    return (size_t)(from - b->base);
}

uint32_t plim_unknown_find(const struct plim_known_lines *known, struct plim_log_buffer *b,
                           struct plim_unknown_line *ret_lines, uint32_t most)
{
    const bool is_told = b->base == 0 && b->length <= PLIM_WINDOW_BYTES;
    uint32_t n = 0;
    for (size_t start = first_of(known, b), end; start < b->length; start = end + 1) {
        const char *line_end = memchr(b->data + start, '\n', b->length - start);
        end = line_end ? (size_t)(line_end - b->data) : b->length;
        const size_t size = end - start < PLIM_LOG_LINE_BYTES ? end - start : PLIM_LOG_LINE_BYTES;
        const bool is_alarm =
            plim_unknown_is_alarm(b->data + start, size) && !is_known(known, b->base + start, b->base + end);
        if (!is_alarm && !(is_told && tells_failure(known, b->base + start, b->data + start, size)))
            continue;
        if (n == most)
            memmove(ret_lines, ret_lines + 1, --n * sizeof *ret_lines);
        ret_lines[n++] =
            (struct plim_unknown_line){ .line = plim_log_line_at(b, start),
                                        .is_other_exception = is_alarm && is_other_exception(b->data + start, size) };
    }
    return n;
}

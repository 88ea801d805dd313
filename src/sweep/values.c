/* SPDX-License-Identifier: MIT */
#include "sweep/values.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool plim_sweep_number(struct plim_sweep_scan *scan, uint64_t *ret_number)
{
    plim_sweep_blanks(scan);
    uint64_t value = 0;
    const size_t start = scan->at;
    for (; scan->at < scan->end && scan->text[scan->at] >= '0' && scan->text[scan->at] <= '9'; scan->at++) {
        if (scan->at - start >= 18)
            return false;
        value = value * 10 + (uint64_t)(scan->text[scan->at] - '0');
    }
    *ret_number = value;
    return scan->at > start;
}

bool plim_sweep_are_numbers(const char *a, const char *b, double *ret_difference)
{
    const char *end_a, *end_b;
    const double x = plim_decimal(a, &end_a), y = plim_decimal(b, &end_b);
    *ret_difference = x - y;
    return end_a != a && !*end_a && end_b != b && !*end_b;
}

/* --- one value --- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The bytes from start to end, without blanks at both. */
static const char *trimmed(struct plim_arena *arena, const char *text, size_t start, size_t end)
{
    while (end > start && is_blank(text[end - 1]))
        end--;
    return plim_arena_copy(arena, text + start, end - start);
}

static const char *quoted(struct plim_sweep_scan *scan, struct plim_arena *arena)
{
    const size_t start = ++scan->at;
    while (scan->at < scan->end && scan->text[scan->at] != '"' && scan->text[scan->at] != '\n')
        scan->at++;
    if (scan->at == scan->end || scan->text[scan->at] != '"') {
        plim_sweep_fail(scan, start - 1, "a value in quotation marks ends on its line", "no closing quotation mark");
        return NULL;
    }
    return plim_arena_copy(arena, scan->text + start, scan->at++ - start);
}

/* A value of one variable may have blanks inside; of several that change together it ends at one. */
static const char *read_value(struct plim_sweep_scan *scan, struct plim_arena *arena, bool has_blanks)
{
    plim_sweep_blanks(scan);
    const size_t start = scan->at;
    if (start < scan->end && scan->text[start] == '"')
        return quoted(scan, arena);
    for (; scan->at < scan->end; scan->at++) {
        const char c = scan->text[scan->at];
        if (c == ',' || c == '\n' || (is_blank(c) && !has_blanks))
            break;
    }
    const char *value = trimmed(arena, scan->text, start, scan->at);
    if (value && !*value) {
        plim_sweep_fail(scan, start, "values stand between commas: B = 1, 2, 4", "a value is missing");
        return NULL;
    }
    return value;
}

static int check_value(struct plim_sweep_scan *scan, size_t at, const char *value)
{
    if (!value)
        return scan->err && scan->err->code
                   ? scan->err->code
                   : plim_sweep_fail(scan, at, "write fewer or shorter values", "the values take too much memory");
    if (strlen(value) > PLIM_MAX_SWEEP_VALUE_BYTES)
        return plim_sweep_fail(scan, at, "a value has up to 1024 bytes", "the value is too long");
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return plim_sweep_fail(scan, at, "write it without control characters", "a value has a control character");
    return 0;
}

/* --- lists --- */

/* Room for one more tuple. */
static const char **append(struct plim_sweep_scan *scan, size_t at, struct plim_sweep_group *group)
{
    if (group->n_tuples == PLIM_MAX_SWEEP_VALUES) {
        plim_sweep_fail(scan, at, "a sweep may have several variables", "more than %d values",
                        (int)PLIM_MAX_SWEEP_VALUES);
        return NULL;
    }
    return group->values + group->n_tuples++ * group->n_variables;
}

/* "128..1024 step 128": 1 when it is one, 0 when it is not, and nothing is read. */
static int read_range(struct plim_sweep_scan *scan, struct plim_arena *arena, struct plim_sweep_group *group)
{
    const size_t start = scan->at;
    uint64_t first, last, step = 1;
    if (!plim_sweep_number(scan, &first) || scan->end - scan->at < 2 || memcmp(scan->text + scan->at, "..", 2) != 0) {
        scan->at = start;
        return 0;
    }
    scan->at += 2;
    const char *word;
    if (!plim_sweep_number(scan, &last) || last < first)
        return plim_sweep_fail(scan, start, "write 1..8, or 128..1024 step 128", "a range of no numbers");
    const size_t n = plim_sweep_name(scan, &word);
    if (n && (n != 4 || memcmp(word, "step", 4) != 0 || !plim_sweep_number(scan, &step) || !step))
        return plim_sweep_fail(scan, start, "write 128..1024 step 128", "a range goes on with 'step' and a number");
    for (uint64_t value = first; value <= last; value += step) {
        char text[24];
        const char **to = append(scan, start, group);
        if (!to)
            return PLIM_E_CORRUPT;
        *to = plim_arena_copy(arena, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
        if (!*to)
            return plim_sweep_fail(scan, start, "write fewer values", "the values take too much memory");
    }
    return 1;
}

static int read_tuple(struct plim_sweep_scan *scan, struct plim_arena *arena, struct plim_sweep_group *group)
{
    plim_sweep_blanks(scan);
    const size_t start = scan->at;
    const int is_range = group->n_variables == 1 ? read_range(scan, arena, group) : 0;
    if (is_range)
        return is_range < 0 ? is_range : 0;
    const char **to = append(scan, start, group);
    if (!to)
        return PLIM_E_CORRUPT;
    for (size_t i = 0; i < group->n_variables; i++) {
        plim_sweep_blanks(scan);
        const size_t at = scan->at;
        to[i] = read_value(scan, arena, group->n_variables == 1);
        const int result = check_value(scan, at, to[i]);
        if (result < 0)
            return result;
    }
    return 0;
}

/* No more than the text has commas: the array is cut to the number of values afterwards by nobody, and lies unused. */
static size_t most_tuples(const struct plim_sweep_scan *scan)
{
    size_t n = 1;
    for (size_t i = scan->at; i < scan->end; i++) {
        n += scan->text[i] == ',';
        if (i + 1 < scan->end && scan->text[i] == '.' && scan->text[i + 1] == '.')
            return PLIM_MAX_SWEEP_VALUES;
    }
    return n < PLIM_MAX_SWEEP_VALUES ? n : PLIM_MAX_SWEEP_VALUES;
}

int plim_sweep_values(struct plim_sweep_scan *scan, struct plim_arena *arena, struct plim_sweep_group *group)
{
    group->values = plim_arena_alloc(arena, most_tuples(scan) * group->n_variables, sizeof *group->values);
    if (!group->values)
        return plim_sweep_fail(scan, scan->at, "write fewer values", "the values take too much memory");
    do {
        const int result = read_tuple(scan, arena, group);
        if (result < 0)
            return result;
    } while (plim_sweep_take(scan, ','));
    plim_sweep_blanks(scan);
    if (scan->at < scan->end)
        return plim_sweep_fail(scan, scan->at, "values stand between commas", "a comma is missing");
    return 0;
}

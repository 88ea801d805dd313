/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/capture.h"

#include "diagnose/scan/patterns/figure.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_figure_char(char c) { return is_digit(c) || c == '.' || c == ','; }

/* The point at the end of a sentence is not part of a figure. */
static bool is_figure_end(const char *text, size_t at)
{
    return is_digit(text[at]) || (is_figure_char(text[at]) && at > 0 && is_digit(text[at - 1]));
}

/* Three digits, as commas group them. */
static bool is_group(const char *text) { return strspn(text, "0123456789") == 3; }

/* A date, a time or a logger's clock ("0.01.234.567"), which begins a line of its own. */
static bool is_stamp(const char *text)
{
    const char *next = text + strspn(text, "0123456789");
    if (*next == '-' || *next == '/' || *next == ':')
        return true;
    return *next == '.' && next[1 + strspn(next + 1, "0123456789")] == '.' && is_digit(next[1]);
}

/* The next line is one of its own. */
static bool is_new_line(const struct plim_window *w, size_t join)
{
    return w->is_join[join] == PLIM_NEW_LINE || is_stamp(w->text + join + 1);
}

/* Allocators ask for multiples of 256 bytes or more. */
static bool is_size(const char *digits, size_t n)
{
    enum { GRANULE_BYTES = 256, MIN_DIGITS = 7 };
    unsigned rest = 0;
    for (size_t i = 0; i < n; i++)
        if (is_digit(digits[i]))
            rest = (10 * rest + (unsigned)(digits[i] - '0')) % GRANULE_BYTES;
    return n >= MIN_DIGITS && rest == 0;
}

/*
 * Digits before a line end, and digits behind it: one number that a terminal broke, or two. Returns where the number
 * ends: at the line end, or behind the rest; 0 when nobody can tell. all is both without the line end; a point behind
 * it, with more digits, belongs to another number: bytes have none.
 */
static size_t end_of_broken(const char *all, size_t n_all, size_t n_first, bool has_point, enum plim_number_kind kind)
{
    if (kind != PLIM_NUMBER_BYTES)
        return 0;
    const bool is_first = is_size(all, n_first), is_all = is_size(all, n_all) && !has_point;
    return is_first == is_all ? 0 : is_first ? n_first : n_all;
}

static bool has_point(const char *text) { return *text == '.' && is_digit(text[1]); }

/*
 * Where a figure ends that has a line end inside, which the window left out; 0 when nobody can tell. Where the pattern
 * matched more text behind it, it is one figure.
 */
static size_t figure_end(const struct plim_window *w, size_t start, size_t end, bool is_last,
                         enum plim_number_kind kind)
{
    const char *text = w->text;
    size_t at = start + 1;
    while (at < end && !(w->is_join[at] && is_figure_char(text[at]) && is_digit(text[at - 1])))
        at++;
    if (at >= end || !is_last || kind == PLIM_NUMBER_TIME)
        return end;
    if (w->is_join[at] == PLIM_NEW_LINE || is_stamp(text + at))
        return at;
    if (strspn(text + start, "0123456789") < end - start)
        return end; /* a unit, a point or groups: it goes on */
    const size_t n = end_of_broken(text + start, end - start, at - start, has_point(text + end), kind);
    return n ? start + n : 0;
}

/* The figure is at the end of a line, and the next one begins with a digit, but is another text. */
static bool is_whole(const struct plim_window *w, size_t start, size_t end, enum plim_number_kind kind)
{
    enum { MAX_DIGITS = 40 };
    char all[MAX_DIGITS];
    const size_t n_first = end - start, n_rest = strspn(w->text + end + 1, "0123456789");
    if (is_new_line(w, end))
        return true;
    if (n_first + n_rest > MAX_DIGITS || strspn(w->text + start, "0123456789") < n_first)
        return false;
    memcpy(all, w->text + start, n_first);
    memcpy(all + n_first, w->text + end + 1, n_rest);
    return end_of_broken(all, n_first + n_rest, n_first, has_point(w->text + end + 1 + n_rest), kind) == n_first;
}

/* A figure that goes on behind the end of the log, behind "..." or in the next line: it may be another one. */
static bool is_cut(const struct plim_window *w, size_t start, size_t end, bool is_end, enum plim_number_kind kind)
{
    const char *text = w->text;
    const bool ends_in_figure = is_figure_char(text[end - 1]);
    if (is_end && end >= w->length && !w->has_blank_end && ends_in_figure)
        return true;
    if (ends_in_figure && (!strncmp(text + end, "...", 3) || !strncmp(text + end, "\xe2\x80\xa6", 3)))
        return true;
    if (start > 1 && w->is_join[start - 1] == 1 && text[start - 1] == ' ' && is_figure_end(text, start - 2) &&
        !(text[start - 2] == ',' && !is_group(text + start)))
        return true;
    return ends_in_figure && end + 1 < w->length && text[end] == ' ' && w->is_join[end] &&
           is_figure_char(text[end + 1]) && !is_whole(w, start, end, kind);
}

static int64_t unit_of(const struct plim_pattern *pattern, int number)
{
    for (const struct plim_pattern_value *v = pattern->values; v && v->kind != PLIM_VALUE_END; v++)
        if (v->kind == PLIM_VALUE_UNIT && v->index == number)
            return v->amount;
    return 1;
}

static void take_word(const struct plim_window *w, size_t start, size_t end, bool is_end, char word[PLIM_WORD_BYTES])
{
    if (word[0] || end <= start || (is_end && end >= w->length && !w->has_blank_end))
        return;
    const size_t n = end - start < PLIM_WORD_BYTES - 1 ? end - start : PLIM_WORD_BYTES - 1;
    memcpy(word, w->text + start, n);
    word[n] = '\0';
}

/* is_end: the log ends with the window; is_last: the pattern ends with the figure */
static int64_t take_figure(const struct plim_window *w, size_t start, size_t end, bool is_end, bool is_last,
                           enum plim_number_kind kind, int64_t unit, struct plim_match *m)
{
    int64_t value = PLIM_UNKNOWN;
    if (end <= start)
        return PLIM_UNKNOWN;
    const size_t all = end;
    end = figure_end(w, start, end, is_last, kind);
    if (end == 0 || (end == all && is_cut(w, start, end, is_end, kind)))
        return PLIM_UNKNOWN;
    const enum plim_figure figure = plim_figure_read(w->text + start, end - start, kind, unit, &value);
    m->has_impossible = m->has_impossible || figure == PLIM_FIGURE_IMPOSSIBLE;
    if (figure != PLIM_FIGURE_OK)
        return PLIM_UNKNOWN;
    return kind == PLIM_NUMBER_BYTES && value > 0 ? plim_figure_exact(w->text + end, value) : value;
}

void plim_capture_groups(struct plim_match *m, const struct plim_expression *e,
                         const struct plim_expression_scratch *scratch, const struct plim_window *w, bool is_end)
{
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(scratch->data);
    const uint32_t n_pairs = pcre2_get_ovector_count(scratch->data);
    struct plim_other other = { PLIM_UNKNOWN, PLIM_UNKNOWN };
    for (uint16_t i = 0; i < e->n_groups; i++) {
        const struct plim_group *group = &e->groups[i];
        if (group->number >= n_pairs || ends[2 * group->number] == PCRE2_UNSET)
            continue;
        const size_t start = ends[2 * group->number], end = ends[2 * group->number + 1];
        if (group->is_word) {
            take_word(w, start, end, is_end, m->words.text[group->index]);
        } else if (group->index == PLIM_GROUP_OTHER_PID) {
            other.pid = take_figure(w, start, end, is_end, end == ends[1], PLIM_NUMBER_COUNT, 1, m);
        } else if (group->index == PLIM_GROUP_OTHER_BYTES) {
            other.bytes = take_figure(w, start, end, is_end, end == ends[1], PLIM_NUMBER_BYTES, 1, m);
        } else if (m->numbers.value[group->index] == PLIM_UNKNOWN) {
            m->numbers.value[group->index] =
                take_figure(w, start, end, is_end, end == ends[1], plim_number_kind((enum plim_number)group->index),
                            unit_of(m->pattern, group->index), m);
        }
    }
    if (e->has_others && (other.pid != PLIM_UNKNOWN || other.bytes != PLIM_UNKNOWN) && m->n_others < PLIM_MAX_OTHERS)
        m->others[m->n_others++] = other;
}

static int64_t difference(int64_t a, int64_t b)
{
    return a == PLIM_UNKNOWN || b == PLIM_UNKNOWN ? PLIM_UNKNOWN : a - b;
}

/* Reserved includes allocated, cached does not; a tensor's bytes follow from its shape. */
static void derive(struct plim_match *m)
{
    int64_t *v = m->numbers.value;
    if (v[PLIM_N_CACHED_BYTES] != PLIM_UNKNOWN && v[PLIM_N_ALLOCATED_BYTES] != PLIM_UNKNOWN) {
        int64_t sum;
        if (!__builtin_add_overflow(v[PLIM_N_CACHED_BYTES], v[PLIM_N_ALLOCATED_BYTES], &sum))
            v[PLIM_N_RESERVED_BYTES] = sum;
    }
    if (v[PLIM_N_RESERVED_UNALLOCATED_BYTES] == PLIM_UNKNOWN) {
        const int64_t left = v[PLIM_N_CACHED_BYTES] != PLIM_UNKNOWN
                                 ? v[PLIM_N_CACHED_BYTES]
                                 : difference(v[PLIM_N_RESERVED_BYTES], v[PLIM_N_ALLOCATED_BYTES]);
        if (left >= 0)
            v[PLIM_N_RESERVED_UNALLOCATED_BYTES] = left;
    }
    if (v[PLIM_N_TRIED_BYTES] == PLIM_UNKNOWN && m->words.text[PLIM_W_SHAPE][0])
        v[PLIM_N_TRIED_BYTES] = plim_figure_tensor_bytes(m->words.text[PLIM_W_SHAPE], m->words.text[PLIM_W_DTYPE]);
}

static void set_values(struct plim_match *m)
{
    for (const struct plim_pattern_value *v = m->pattern->values; v && v->kind != PLIM_VALUE_END; v++) {
        if (v->kind == PLIM_VALUE_SET_NUMBER && m->numbers.value[v->index] == PLIM_UNKNOWN)
            m->numbers.value[v->index] = v->amount;
        if (v->kind == PLIM_VALUE_SET_WORD && !m->words.text[v->index][0])
            snprintf(m->words.text[v->index], PLIM_WORD_BYTES, "%s", v->text);
    }
}

static void count_figures(struct plim_match *m)
{
    m->n_figures = m->n_others;
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        m->n_figures += m->numbers.value[i] != PLIM_UNKNOWN;
}

void plim_capture_finish(struct plim_match *m)
{
    derive(m);
    set_values(m);
    count_figures(m);
}

void plim_match_fill(struct plim_match *match, const struct plim_match *other)
{
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (match->numbers.value[i] == PLIM_UNKNOWN)
            match->numbers.value[i] = other->numbers.value[i];
    for (int i = 0; i < PLIM_WORD_MAX_; i++)
        if (!match->words.text[i][0])
            memcpy(match->words.text[i], other->words.text[i], PLIM_WORD_BYTES);
    if (match->n_others == 0 && other->n_others > 0) {
        memcpy(match->others, other->others, sizeof match->others);
        match->n_others = other->n_others;
    }
    match->has_impossible = match->has_impossible || other->has_impossible;
    count_figures(match);
}

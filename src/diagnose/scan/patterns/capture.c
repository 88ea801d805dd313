/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/capture.h"

#include "diagnose/scan/figure.h"

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

/* The next line is one of its own; here, because it begins with a date or a time. */
static bool is_new_line(const struct plim_window *w, size_t join)
{
    const char *next = w->text + join + 1;
    const char behind = next[strspn(next, "0123456789")];
    return w->is_join[join] == PLIM_NEW_LINE || behind == '-' || behind == '/' || behind == ':';
}

/* A figure that goes on behind the end of the log, behind "..." or in the next line: it may be another one. */
static bool is_cut(const struct plim_window *w, size_t start, size_t end, bool is_end)
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
           is_figure_char(text[end + 1]) && !is_new_line(w, end);
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

static int64_t take_figure(const struct plim_window *w, size_t start, size_t end, bool is_end,
                           enum plim_number_kind kind, int64_t unit, struct plim_match *m)
{
    int64_t value = PLIM_UNKNOWN;
    if (end <= start || is_cut(w, start, end, is_end))
        return PLIM_UNKNOWN;
    const enum plim_figure figure = plim_figure_read(w->text + start, end - start, kind, unit, &value);
    m->has_impossible = m->has_impossible || figure == PLIM_FIGURE_IMPOSSIBLE;
    return figure == PLIM_FIGURE_OK ? value : PLIM_UNKNOWN;
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
            other.pid = take_figure(w, start, end, is_end, PLIM_NUMBER_COUNT, 1, m);
        } else if (group->index == PLIM_GROUP_OTHER_BYTES) {
            other.bytes = take_figure(w, start, end, is_end, PLIM_NUMBER_BYTES, 1, m);
        } else if (m->numbers.value[group->index] == PLIM_UNKNOWN) {
            m->numbers.value[group->index] =
                take_figure(w, start, end, is_end, plim_number_kind((enum plim_number)group->index),
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

/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/match.h"

#include "base/mem.h"
#include "diagnose/scan/figure.h"
#include "diagnose/scan/match_limits.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_NAMES = 24,       /* named groups of one expression */
    MAX_EXPRESSIONS = 24, /* `more` and `before` of one pattern, each */
    REACH_AFTER = 3000,   /* characters behind a match in which `more` looks */
    REACH_BEFORE = 1500,
    REACH_OF_FIGURES = 400,     /* behind a match with figures: more of its message */
    REACH_OF_WORDS = 240,       /* on both sides of an anchor of a general pattern: it is read nowhere else */
    BYTES_BEFORE_JIT = 8 << 10, /* machine code costs as much as the interpreter takes for them */
    IS_OTHER_PID = -1,
    IS_OTHER_BYTES = -2,
};

struct group {
    uint16_t number;
    bool is_word;
    int16_t index; /* enum plim_number, enum plim_word, IS_OTHER_... */
};

struct expression {
    pcre2_code *code; /* NULL: not compiled yet, or it does not compile */
    bool was_tried, has_others, is_fast;
    uint16_t n_groups;
    uint32_t n_bytes; /* that it has been run over */
    struct group groups[MAX_NAMES];
};

struct compiled {
    struct expression match, *more, *before;
    uint16_t n_more, n_before;
};

struct plim_matcher {
    struct compiled *patterns;
    pcre2_match_data *data;
    pcre2_match_context *limits;
    const struct plim_match *known; /* messages of forms that are known: general patterns pass over them */
    uint32_t n_known;
};

/* --- expressions --- */

static int find_name(const char *name, bool *ret_is_word)
{
    *ret_is_word = false;
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (!strcmp(name, plim_number_name((enum plim_number)i)))
            return i;
    if (!strcmp(name, "other_pid"))
        return IS_OTHER_PID;
    if (!strcmp(name, "other_bytes"))
        return IS_OTHER_BYTES;
    *ret_is_word = true;
    for (int i = 0; i < PLIM_WORD_MAX_; i++)
        if (!strcmp(name, plim_word_name((enum plim_word)i)))
            return i;
    return 0;
}

static void list_groups(struct expression *e)
{
    uint32_t n = 0, size = 0;
    PCRE2_SPTR entry = NULL;
    pcre2_pattern_info(e->code, PCRE2_INFO_NAMECOUNT, &n);
    pcre2_pattern_info(e->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(e->code, PCRE2_INFO_NAMETABLE, &entry);
    for (uint32_t i = 0; i < n && i < MAX_NAMES; i++, entry += size) {
        struct group *group = &e->groups[e->n_groups++];
        group->number = (uint16_t)(entry[0] << 8 | entry[1]);
        group->index = (int16_t)find_name((const char *)entry + 2, &group->is_word);
        e->has_others = e->has_others || group->index == IS_OTHER_BYTES;
    }
}

static bool compile(struct expression *e, const char *text, char *ret_what, size_t size)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    if (!e->was_tried) {
        e->was_tried = true;
        e->code =
            pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_DOTALL | PCRE2_DUPNAMES, &code, &at, NULL);
        if (e->code)
            list_groups(e);
        else if (ret_what)
            snprintf(ret_what, size, "error %d at %zu of %s", code, at, text);
    }
    return e->code != NULL;
}

static bool find(struct plim_matcher *matcher, struct expression *e, const char *text, const char *subject, size_t from,
                 size_t end)
{
    if (from > end || !compile(e, text, NULL, 0))
        return false;
    if (!e->is_fast) {
        e->n_bytes += (uint32_t)(end - from);
        e->is_fast = e->n_bytes >= BYTES_BEFORE_JIT;
        if (e->is_fast)
            pcre2_jit_compile(e->code, PCRE2_JIT_COMPLETE); /* where there is none, the interpreter goes on */
    }
    return pcre2_match(e->code, (PCRE2_SPTR)subject, end, from, 0, matcher->data, matcher->limits) > 0;
}

static uint16_t count(const char *const *list)
{
    uint16_t n = 0;
    while (list && list[n] && n < MAX_EXPRESSIONS)
        n++;
    return n;
}

static bool prepare(struct compiled *c, const struct plim_pattern *pattern)
{
    const uint16_t n_more = count(pattern->more), n_before = count(pattern->before);
    if (n_more && !c->more)
        c->more = plim_alloc(n_more, sizeof *c->more);
    if (n_before && !c->before)
        c->before = plim_alloc(n_before, sizeof *c->before);
    c->n_more = c->more ? n_more : 0;
    c->n_before = c->before ? n_before : 0;
    return (c->more || !n_more) && (c->before || !n_before);
}

struct plim_matcher *plim_matcher_new(void)
{
    struct plim_matcher *matcher = plim_alloc(1, sizeof *matcher);
    if (!matcher)
        return NULL;
    matcher->patterns = plim_alloc((size_t)plim_n_patterns + 1, sizeof *matcher->patterns);
    matcher->data = pcre2_match_data_create(MAX_NAMES + MAX_EXPRESSIONS, NULL);
    matcher->limits = plim_match_limits();
    if (!matcher->patterns || !matcher->data || !matcher->limits) {
        plim_matcher_free(matcher);
        return NULL;
    }
    return matcher;
}

static void free_expressions(struct expression *list, uint16_t n)
{
    for (uint16_t i = 0; list && i < n; i++)
        pcre2_code_free(list[i].code);
    plim_free(list);
}

void plim_matcher_free(struct plim_matcher *matcher)
{
    if (!matcher)
        return;
    for (uint16_t i = 0; matcher->patterns && i < plim_n_patterns; i++) {
        struct compiled *c = &matcher->patterns[i];
        pcre2_code_free(c->match.code);
        free_expressions(c->more, c->n_more);
        free_expressions(c->before, c->n_before);
    }
    plim_free(matcher->patterns);
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->limits);
    plim_free(matcher);
}

bool plim_matcher_compiles(struct plim_matcher *matcher, uint16_t pattern, char *ret_what, size_t size)
{
    const struct plim_pattern *p = &plim_patterns[pattern];
    struct compiled *c = &matcher->patterns[pattern];
    bool is_good = prepare(c, p) && compile(&c->match, p->match, ret_what, size);
    for (uint16_t i = 0; i < c->n_more && is_good; i++)
        is_good = compile(&c->more[i], p->more[i], ret_what, size);
    for (uint16_t i = 0; i < c->n_before && is_good; i++)
        is_good = compile(&c->before[i], p->before[i], ret_what, size);
    return is_good;
}

/* --- what the groups hold --- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_figure_char(char c) { return is_digit(c) || c == '.' || c == ','; }

/* The end of a sentence is none. */
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

static void add_start(const struct plim_window *w, size_t at, struct plim_match *m)
{
    if (m->n_starts < PLIM_MAX_MATCH_LINES)
        m->starts[m->n_starts++] = w->from[at];
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

/* What the last find() has found. */
static void take_groups(struct plim_matcher *matcher, const struct expression *e, const struct plim_window *w,
                        bool is_end, struct plim_match *m)
{
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->data);
    const uint32_t n_pairs = pcre2_get_ovector_count(matcher->data);
    struct plim_other other = { PLIM_UNKNOWN, PLIM_UNKNOWN };
    for (uint16_t i = 0; i < e->n_groups; i++) {
        const struct group *group = &e->groups[i];
        if (group->number >= n_pairs || ends[2 * group->number] == PCRE2_UNSET)
            continue;
        const size_t start = ends[2 * group->number], end = ends[2 * group->number + 1];
        if (group->is_word) {
            take_word(w, start, end, is_end, m->words.text[group->index]);
        } else if (group->index == IS_OTHER_PID) {
            other.pid = take_figure(w, start, end, is_end, PLIM_NUMBER_COUNT, 1, m);
        } else if (group->index == IS_OTHER_BYTES) {
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

/* --- a window --- */

static void run_more(struct plim_matcher *matcher, struct compiled *c, const struct plim_window *w, bool is_end,
                     size_t start, size_t limit, struct plim_match *m)
{
    for (uint16_t i = 0; i < c->n_more; i++) {
        size_t from = start;
        while (find(matcher, &c->more[i], m->pattern->more[i], w->text, from, limit)) {
            const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->data);
            const size_t hit = ends[0], end = ends[1];
            take_groups(matcher, &c->more[i], w, is_end, m);
            add_start(w, hit, m);
            from = end > hit ? end : hit + 1;
            if (!c->more[i].has_others || m->n_others >= PLIM_MAX_OTHERS)
                break;
        }
    }
}

/* The hit nearest to the match wins. */
static void run_before(struct plim_matcher *matcher, struct compiled *c, const struct plim_window *w, size_t start,
                       struct plim_match *m)
{
    const size_t first = start > REACH_BEFORE ? start - REACH_BEFORE : 0;
    for (uint16_t i = 0; i < c->n_before; i++) {
        size_t from = first, last = SIZE_MAX;
        while (find(matcher, &c->before[i], m->pattern->before[i], w->text, from, start)) {
            const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->data);
            last = ends[0];
            from = ends[1] > last ? ends[1] : last + 1;
        }
        if (last != SIZE_MAX && find(matcher, &c->before[i], m->pattern->before[i], w->text, last, start)) {
            take_groups(matcher, &c->before[i], w, false, m);
            add_start(w, last, m);
        }
    }
}

/* The first anchor at or behind `from`; NULL: none. */
static const char *find_anchor(const struct plim_pattern *pattern, const struct plim_window *w, size_t from)
{
    const char *first = NULL;
    for (const char *const *anchor = pattern->anchors; anchor && *anchor; anchor++) {
        const size_t n = (first ? (size_t)(first - w->text) : w->length) - from;
        const char *found = memmem(w->text + from, n, *anchor, strlen(*anchor));
        first = found ? found : first;
    }
    return first;
}

void plim_matcher_know(struct plim_matcher *matcher, const struct plim_match *matches, uint32_t n)
{
    matcher->known = matches;
    matcher->n_known = n;
}

static bool is_known(const struct plim_matcher *matcher, uint32_t at)
{
    for (uint32_t i = 0; i < matcher->n_known; i++) {
        const struct plim_match *m = &matcher->known[i];
        if (m->pattern->role == PLIM_PATTERN_ROLE_FAILURE && at >= m->start &&
            at < m->end + (m->n_figures ? REACH_OF_FIGURES : 0))
            return true;
    }
    return false;
}

/* The next match from `from`: anywhere, or of a general pattern around its anchors. */
static bool find_match(struct plim_matcher *matcher, struct compiled *c, const struct plim_pattern *p,
                       const struct plim_window *w, size_t from)
{
    if (!p->is_general)
        return find(matcher, &c->match, p->match, w->text, from, w->length);
    const char *anchor = find_anchor(p, w, from);
    while (anchor) {
        const size_t at = (size_t)(anchor - w->text);
        const size_t start = at > from + REACH_OF_WORDS ? at - REACH_OF_WORDS : from;
        const size_t end = at + REACH_OF_WORDS < w->length ? at + REACH_OF_WORDS : w->length;
        if (!is_known(matcher, w->from[at]) && find(matcher, &c->match, p->match, w->text, start, end))
            return true;
        from = at + 1;
        anchor = find_anchor(p, w, from);
    }
    return false;
}

/* Line ends are blanks in the text, and remembered. */
static bool is_line_start(const struct plim_window *w, size_t at)
{
    return at == 0 || w->is_join[at] || (w->text[at - 1] == ' ' && w->is_join[at - 1]);
}

static bool is_line_end(const struct plim_window *w, size_t at)
{
    return at >= w->length || w->is_join[at] || (at > 0 && w->text[at - 1] == ' ' && w->is_join[at - 1]);
}

/* A string of JSON can hold a log. */
static bool is_string_start(const struct plim_window *w, size_t at)
{
    return at > 1 && w->text[at - 1] == '"' && strchr(": ", w->text[at - 2]);
}

static bool is_string_end(const struct plim_window *w, size_t at)
{
    return at + 1 < w->length && w->text[at] == '"' && strchr(",} ", w->text[at + 1]);
}

/* A string that is nothing but the match is a value, not a line of a log. */
static bool stands_in_line(const struct plim_window *w, const struct plim_pattern *pattern, size_t start, size_t end)
{
    const bool wants_start = pattern->line & PLIM_LINE_START, wants_end = pattern->line & PLIM_LINE_END;
    const bool is_start = is_line_start(w, start), is_end = is_line_end(w, end);
    if (pattern->line & PLIM_LINE_ALARM)
        return w->is_alarm[start];
    if (wants_start && wants_end)
        return (is_start && (is_end || is_string_end(w, end))) || (is_end && is_string_start(w, start));
    return (!wants_start || is_start || is_string_start(w, start)) && (!wants_end || is_end || is_string_end(w, end));
}

static void start_match(const struct plim_pattern *pattern, const struct plim_window *w, size_t start, size_t end,
                        struct plim_match *m)
{
    memset(m, 0, sizeof *m);
    plim_numbers_init(&m->numbers);
    m->pattern = pattern;
    m->start = w->from[start];
    m->end = w->from[end];
    add_start(w, start, m);
}

uint32_t plim_matcher_run(struct plim_matcher *matcher, const struct plim_window *window, uint16_t pattern, bool is_end,
                          struct plim_match *ret_matches, uint32_t most)
{
    const struct plim_pattern *p = &plim_patterns[pattern];
    struct compiled *c = &matcher->patterns[pattern];
    uint32_t n = 0;
    size_t from = 0, previous = 0; /* where the match before the next one begins */
    if (!find_anchor(p, window, 0) || !prepare(c, p))
        return 0;
    while (n < most && find_match(matcher, c, p, window, from)) {
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->data);
        const size_t end = ends[1];
        size_t start = ends[0];
        while (start + 1 < end && window->text[start] == ' ') /* of the line behind the break */
            start++;
        if (!stands_in_line(window, p, start, end)) {
            from = end > start && !(p->line & PLIM_LINE_ALARM) ? end : start + 1;
            continue;
        }
        struct plim_match *m = &ret_matches[n];
        start_match(p, window, start, end, m);
        take_groups(matcher, &c->match, window, is_end, m);
        /* `more` of the match before ends where this one begins */
        if (n > 0)
            run_more(matcher, c, window, is_end, previous, start, &ret_matches[n - 1]);
        run_before(matcher, c, window, start, m);
        previous = start;
        from = end > start ? end : start + 1;
        n++;
    }
    if (n > 0) {
        size_t limit = from + REACH_AFTER < window->length ? from + REACH_AFTER : window->length;
        if (n == most && find(matcher, &c->match, p->match, window->text, from, limit)) /* one that is not taken */
            limit = pcre2_get_ovector_pointer(matcher->data)[0];
        run_more(matcher, c, window, is_end, previous, limit, &ret_matches[n - 1]);
    }
    for (uint32_t i = 0; i < n; i++) {
        derive(&ret_matches[i]);
        set_values(&ret_matches[i]);
        count_figures(&ret_matches[i]);
    }
    return n;
}

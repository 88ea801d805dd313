/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/patterns/match.h"

#include "base/gnu_string.h"
#include "base/mem.h"
#include "diagnose/scan/patterns/capture.h"
#include "diagnose/scan/patterns/expression_pool.h"

#include <string.h>

enum {
    MAX_EXPRESSIONS = 24, /* `more` and `before` of one pattern, each */
    REACH_AFTER = 3000,   /* characters behind a match in which `more` looks */
    REACH_BEFORE = 1500,
    REACH_OF_FIGURES = 400, /* behind a match with figures: more of its message */
    REACH_OF_WORDS = 240,   /* on both sides of an anchor of a general pattern: it is read nowhere else */
    MARKS = PLIM_WINDOW_BYTES / 64 + 1,
};

#define NO_ANCHOR SIZE_MAX

struct compiled {
    struct plim_expression match, **more, **before; /* the lists are NULL until the pattern is first run */
    uint16_t n_more, n_before;
};

struct plim_matcher {
    struct compiled *patterns;
    struct plim_expression_pool pool;
    struct plim_expression_scratch scratch;
    const struct plim_match *known; /* matches of patterns that are not general: general patterns pass over them */
    uint32_t n_known;
    uint64_t marks[MARKS]; /* a bit for each position of the window with an anchor of the general pattern that is run */
};

static uint16_t count(const char *const *list)
{
    uint16_t n = 0;
    while (list && list[n] && n < MAX_EXPRESSIONS)
        n++;
    return n;
}

/* The expressions of a list of texts, to be compiled when they are run; NULL: the list is empty, or out of memory. */
static struct plim_expression **pool_list(struct plim_matcher *matcher, const char *const *texts, uint16_t n)
{
    struct plim_expression **list = n ? plim_alloc(n, sizeof *list) : NULL;
    for (uint16_t i = 0; list && i < n; i++) {
        list[i] = plim_expression_pool_get(&matcher->pool, texts[i]);
        if (!list[i]) {
            plim_free(list);
            list = NULL;
        }
    }
    return list;
}

static bool prepare(struct plim_matcher *matcher, struct compiled *c, const struct plim_pattern *pattern)
{
    const uint16_t n_more = count(pattern->more), n_before = count(pattern->before);
    if (!c->more)
        c->more = pool_list(matcher, pattern->more, n_more);
    if (!c->before)
        c->before = pool_list(matcher, pattern->before, n_before);
    c->n_more = c->more ? n_more : 0;
    c->n_before = c->before ? n_before : 0;
    return (c->more || !n_more) && (c->before || !n_before);
}

struct plim_matcher *plim_matcher_new(struct plim_budget *budget)
{
    struct plim_matcher *matcher = plim_alloc(1, sizeof *matcher);
    if (!matcher)
        return NULL;
    matcher->patterns = plim_alloc((size_t)plim_n_patterns + 1, sizeof *matcher->patterns);
    if (!matcher->patterns || !plim_expression_scratch_init(&matcher->scratch, budget)) {
        plim_matcher_free(matcher);
        return NULL;
    }
    return matcher;
}

void plim_matcher_free(struct plim_matcher *matcher)
{
    if (!matcher)
        return;
    for (uint16_t i = 0; matcher->patterns && i < plim_n_patterns; i++) {
        struct compiled *c = &matcher->patterns[i];
        plim_expression_done(&c->match);
        plim_free(c->more);
        plim_free(c->before);
    }
    plim_free(matcher->patterns);
    plim_expression_pool_done(&matcher->pool);
    plim_expression_scratch_done(&matcher->scratch);
    plim_free(matcher);
}

bool plim_matcher_compiles(struct plim_matcher *matcher, uint16_t pattern, char *ret_what, size_t size)
{
    const struct plim_pattern *p = &plim_patterns[pattern];
    struct compiled *c = &matcher->patterns[pattern];
    bool is_good = prepare(matcher, c, p) && plim_expression_compile(&c->match, p->match, ret_what, size);
    for (uint16_t i = 0; i < c->n_more && is_good; i++)
        is_good = plim_expression_compile(c->more[i], p->more[i], ret_what, size);
    for (uint16_t i = 0; i < c->n_before && is_good; i++)
        is_good = plim_expression_compile(c->before[i], p->before[i], ret_what, size);
    return is_good;
}

static void add_start(const struct plim_window *w, size_t at, struct plim_match *m)
{
    if (m->n_starts < PLIM_MAX_MATCH_LINES)
        m->starts[m->n_starts++] = w->from[at];
}

/* --- a window --- */

static void run_more(struct plim_matcher *matcher, struct compiled *c, const struct plim_window *w, bool is_end,
                     size_t start, size_t limit, struct plim_match *m)
{
    for (uint16_t i = 0; i < c->n_more; i++) {
        size_t from = start;
        while (plim_expression_find(c->more[i], m->pattern->more[i], w->text, from, limit, &matcher->scratch)) {
            const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->scratch.data);
            const size_t hit = ends[0], end = ends[1];
            plim_capture_groups(m, c->more[i], &matcher->scratch, w, is_end);
            add_start(w, hit, m);
            from = end > hit ? end : hit + 1;
            if (!c->more[i]->has_others || m->n_others >= PLIM_MAX_OTHERS)
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
        while (plim_expression_find(c->before[i], m->pattern->before[i], w->text, from, start, &matcher->scratch)) {
            const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->scratch.data);
            last = ends[0];
            from = ends[1] > last ? ends[1] : last + 1;
        }
        if (last != SIZE_MAX &&
            plim_expression_find(c->before[i], m->pattern->before[i], w->text, last, start, &matcher->scratch)) {
            plim_capture_groups(m, c->before[i], &matcher->scratch, w, false);
            add_start(w, last, m);
        }
    }
}

static bool has_anchor(const struct plim_pattern *pattern, const struct plim_window *w)
{
    for (const char *const *anchor = pattern->anchors; anchor && *anchor; anchor++)
        if (memmem(w->text, w->length, *anchor, strlen(*anchor)))
            return true;
    return false;
}

/* Where the anchors of a pattern stand in the window. False: nowhere. */
static bool mark_anchors(struct plim_matcher *matcher, const struct plim_pattern *pattern, const struct plim_window *w)
{
    bool is_any = false;
    memset(matcher->marks, 0, sizeof matcher->marks);
    for (const char *const *anchor = pattern->anchors; anchor && *anchor; anchor++) {
        const size_t n = strlen(*anchor);
        for (const char *found = w->text, *end = w->text + w->length;
             (found = memmem(found, (size_t)(end - found), *anchor, n)); found++) {
            const size_t at = (size_t)(found - w->text);
            matcher->marks[at / 64] |= (uint64_t)1 << at % 64;
            is_any = true;
        }
    }
    return is_any;
}

/* The first mark at or behind `from`; NO_ANCHOR: none. */
static size_t next_anchor(const struct plim_matcher *matcher, size_t from)
{
    for (size_t i = from / 64; i < MARKS; i++) {
        const uint64_t left = matcher->marks[i] & (i == from / 64 ? UINT64_MAX << from % 64 : UINT64_MAX);
        if (left)
            return 64 * i + (size_t)__builtin_ctzll(left);
    }
    return NO_ANCHOR;
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

/* The next match from `from`: anywhere, or of a general pattern around its anchors. Those that are near each other
 * share the text around them: so no text is read once for each of many anchors. */
static bool find_match(struct plim_matcher *matcher, struct compiled *c, const struct plim_pattern *p,
                       const struct plim_window *w, size_t from)
{
    if (!p->is_general)
        return plim_expression_find(&c->match, p->match, w->text, from, w->length, &matcher->scratch);
    size_t at = next_anchor(matcher, from);
    while (at != NO_ANCHOR) {
        if (is_known(matcher, w->from[at])) {
            from = at + 1;
            at = next_anchor(matcher, from);
            continue;
        }
        const size_t start = at > from + REACH_OF_WORDS ? at - REACH_OF_WORDS : from;
        size_t next = next_anchor(matcher, at + 1);
        while (next != NO_ANCHOR && next - at <= REACH_OF_WORDS && !is_known(matcher, w->from[next])) {
            at = next;
            next = next_anchor(matcher, at + 1);
        }
        const size_t end = at + REACH_OF_WORDS < w->length ? at + REACH_OF_WORDS : w->length;
        if (plim_expression_find(&c->match, p->match, w->text, start, end, &matcher->scratch))
            return true;
        from = at + 1;
        at = next;
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

/* A match of an alarm begins where a line with such a prefix does: the next place at or behind `from`, or the end. */
static size_t next_alarm(const struct plim_window *w, size_t from)
{
    const uint8_t *found = memchr(w->is_alarm + from, true, w->length - from);
    return found ? (size_t)(found - w->is_alarm) : w->length;
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
    if (!(p->is_general ? mark_anchors(matcher, p, window) : has_anchor(p, window)) || !prepare(matcher, c, p))
        return 0;
    if (p->line & PLIM_LINE_ALARM)
        from = next_alarm(window, from);
    while (n < most && find_match(matcher, c, p, window, from)) {
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->scratch.data);
        const size_t end = ends[1];
        size_t start = ends[0];
        while (start + 1 < end && window->text[start] == ' ') /* of the line behind the break */
            start++;
        if (!stands_in_line(window, p, start, end)) {
            from = p->line & PLIM_LINE_ALARM ? next_alarm(window, start + 1) : end > start ? end : start + 1;
            continue;
        }
        struct plim_match *m = &ret_matches[n];
        start_match(p, window, start, end, m);
        plim_capture_groups(m, &c->match, &matcher->scratch, window, is_end);
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
        if (n == most && plim_expression_find(&c->match, p->match, window->text, from, limit,
                                              &matcher->scratch)) /* one that is not taken */
            limit = pcre2_get_ovector_pointer(matcher->scratch.data)[0];
        run_more(matcher, c, window, is_end, previous, limit, &ret_matches[n - 1]);
    }
    for (uint32_t i = 0; i < n; i++)
        plim_capture_finish(&ret_matches[i]);
    return n;
}

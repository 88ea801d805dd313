/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/text_kind.h"

#include "base/gnu_string.h"
#include "base/mem.h"
#include "diagnose/scan/patterns/match_limits.h"
#include "diagnose/scan/prose_rules.h"

#include <string.h>

enum {
    SENTENCE = 240, /* characters before and behind the words that are looked at */
    LINE = 600,
    LONG_TEXT = 400,
    SHORT_TEXT = 1500,
    MIN_RUN = 5,        /* words in small letters: a piece of a sentence */
    MIN_PROSE_RUNS = 3, /* of a text of sentences */
    MIN_START = 3,      /* words in small letters: a piece of a sentence at the beginning of a line */
    WORDS_BEFORE = 2,   /* a message: programs put names, levels and colons there */
    START_WORDS = 4,    /* of a line: it begins there at the latest */
    MIN_PROSE_LINES = 2,
    BARE_WORDS = 4, /* and no signs: anybody's words, not those of a program */
};

/* Who speaks in a short text, and what of. */
struct voice {
    size_t size;        /* of the text; 0: it is long, or nobody looked */
    bool is_own;        /* somebody tells of themselves ... */
    bool is_report;     /* ... in the form of a report */
    bool is_particular; /* of one machine, one command */
    bool is_log;        /* a program printed a part of it ... */
    bool has_traceback; /* ... a traceback */
    bool is_page;       /* it explains such failures */
    bool is_change;     /* it describes a change of a program */
    bool is_sentences;  /* much of it is sentences ... */
    unsigned n_lines;   /* ... and so many lines begin with one */
};

struct plim_text_kinds {
    pcre2_code *codes[PLIM_PROSE_RULE_MAX_];
    pcre2_match_data *data;
    pcre2_match_context *limits;
    struct voice voice;
};

struct plim_text_kinds *plim_text_kinds_new(void)
{
    struct plim_text_kinds *g = plim_alloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->data = pcre2_match_data_create(1, NULL);
    g->limits = plim_match_limits();
    if (!g->data || !g->limits) {
        plim_text_kinds_free(g);
        return NULL;
    }
    return g;
}

void plim_text_kinds_free(struct plim_text_kinds *g)
{
    if (!g)
        return;
    for (int i = 0; i < PLIM_PROSE_RULE_MAX_; i++)
        pcre2_code_free(g->codes[i]);
    pcre2_match_data_free(g->data);
    pcre2_match_context_free(g->limits);
    plim_free(g);
}

/* What does not compile holds nowhere; the tests see to it that all do. */
static bool holds(struct plim_text_kinds *g, enum plim_prose_rule_id rule, const char *text, size_t size)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    const struct plim_prose_rule *r = &plim_prose_rules[rule];
    if (!g->codes[rule])
        g->codes[rule] = pcre2_compile((PCRE2_SPTR)r->text, PCRE2_ZERO_TERMINATED, r->is_caseless ? PCRE2_CASELESS : 0,
                                       &code, &at, NULL);
    return g->codes[rule] && pcre2_match(g->codes[rule], (PCRE2_SPTR)text, size, 0, 0, g->data, g->limits) >= 0;
}

/* The first position in the window that is not before the one in the raw bytes. */
static size_t place_of(const struct plim_window *w, uint32_t raw)
{
    size_t low = 0, high = w->length;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->from[middle] < raw)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for where a match ends: a blank that it took along can be the end of its line. */
static size_t end_of(const struct plim_window *w, uint32_t raw)
{
    const size_t end = place_of(w, raw);
    return end > 0 && w->text[end - 1] == ' ' ? end - 1 : end;
}

static bool is_line_end(const struct plim_window *w, size_t at) { return w->is_join[at] && w->text[at] == ' '; }

static size_t line_start(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i > 0 && at - i < LINE && !is_line_end(w, i - 1))
        i--;
    return i;
}

static size_t line_end(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i < w->length && i - at < LINE && !is_line_end(w, i))
        i++;
    return i;
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* "word. Next": not "e.g. this", "3.5 GB", "file.py". */
static bool ends_sentence(const struct plim_window *w, size_t at)
{
    const char c = w->text[at];
    if (c != '.' && c != '!' && c != '?')
        return false;
    return w->text[at + 1] == ' ' && !is_lower(w->text[at + 2]) && !(at > 1 && w->text[at - 2] == '.');
}

/* "torch.cuda.OutOfMemoryError: ": the last line of a traceback begins with a small letter and is no sentence's. */
static bool is_exception(const char *text)
{
    size_t n = 0;
    while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z') || text[n] == '.' || text[n] == '_')
        n++;
    return text[n] == ':' && n > 5 && (!strncmp(text + n - 5, "Error", 5) || !strncmp(text + n - 5, "ption", 5));
}

/* A line that goes on in the next one: that begins with a small letter, and no empty one is between. */
static bool goes_on(const struct plim_window *w, size_t blank)
{
    return blank > 0 && w->is_join[blank] != PLIM_NEW_LINE && is_lower(w->text[blank + 1]) &&
           !is_exception(w->text + blank + 1) && !strchr(".!?:;", w->text[blank - 1]);
}

static size_t sentence_start(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i > 0 && at - i < SENTENCE && !ends_sentence(w, i - 1) && !(is_line_end(w, i - 1) && !goes_on(w, i - 1)))
        i--;
    return i;
}

static size_t sentence_end(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i < w->length && i - at < SENTENCE && !ends_sentence(w, i) && !(is_line_end(w, i) && !goes_on(w, i)))
        i++;
    return i;
}

/* The window has no marks before its lines. */
static bool is_comment(const char *raw, uint32_t at)
{
    uint32_t start = at;
    while (start > 0 && at - start < LINE && raw[start - 1] != '\n')
        start--;
    while (start < at && (raw[start] == ' ' || raw[start] == '\t'))
        start++;
    const bool is_indented = start > 0 && (raw[start - 1] == ' ' || raw[start - 1] == '\t');
    return start + 1 < at && ((raw[start] == '/' && (raw[start + 1] == '/' || raw[start + 1] == '*')) ||
                              (raw[start] == '#' && raw[start + 1] == ' ' && is_indented));
}

/* A traceback whose lines were joined: `raise ValueError("...") ValueError: the message`. */
static bool is_behind_raise(const char *line, const char *at)
{
    unsigned n_quotes = 0;
    while (line < at && *line == ' ')
        line++;
    if (strncmp(line, "raise ", 6) != 0)
        return false;
    for (; line < at; line++) {
        n_quotes += *line == '"';
        if (n_quotes > 0 && n_quotes % 2 == 0 && !strncmp(line, "Error: ", 7))
            return true;
    }
    return false;
}

static bool is_code(struct plim_text_kinds *g, const struct plim_window *w, const char *raw, size_t at)
{
    const size_t first = line_start(w, at), last = line_end(w, at);
    return is_comment(raw, w->from[at]) || (holds(g, PLIM_PROSE_CODE, w->text + first, last - first) &&
                                            !is_behind_raise(w->text + first, w->text + at));
}

/* --- the whole of a short text --- */

static bool is_small(char c) { return is_lower(c) || c == '\'' || (c & 0x80); }

/* Is the word from here in small letters? Behind it, `*at` is at its blank, or at the end of its line. */
static bool next_word(const char *text, size_t size, size_t *at)
{
    bool is = true;
    const size_t start = *at;
    for (; *at < size && text[*at] != ' ' && text[*at] != '\n'; ++*at)
        is = is && (is_small(text[*at]) || (*at > start && strchr("-,.)", text[*at])));
    return is && *at > start;
}

/* Sentences have many words in small letters in a row, what programs print has few. */
static void count_sentences(const char *text, size_t size, struct voice *v)
{
    unsigned n_runs = 0, n_lines = 0, n_in_line = 0, n_in_run = 0;
    bool is_start = false; /* of a sentence, at that of the line */
    for (size_t at = 0; at < size; at++) {
        while (n_in_line == 0 && at + 1 < size && strchr("-*# ", text[at]))
            at++;
        if (n_in_line == 0)
            is_start = text[at] >= 'A' && text[at] <= 'Z';
        const bool is = next_word(text, size, &at);
        n_in_line++;
        n_in_run = is ? n_in_run + 1 : 0;
        n_runs += n_in_run == MIN_RUN;
        n_lines += is_start && n_in_run == MIN_START && n_in_line <= START_WORDS + MIN_START;
        if (at < size && text[at] == '\n')
            n_in_line = n_in_run = 0;
    }
    v->is_sentences = n_runs >= MIN_PROSE_RUNS;
    v->n_lines = n_lines;
}

void plim_text_kinds_listen(struct plim_text_kinds *g, const char *raw, size_t size)
{
    struct voice *v = &g->voice;
    if (size == v->size)
        return;
    memset(v, 0, sizeof *v);
    v->size = size;
    if (size == 0)
        return;
    v->is_report = holds(g, PLIM_PROSE_VOICE_REPORT, raw, size);
    v->is_own = v->is_report || holds(g, PLIM_PROSE_VOICE_SELF, raw, size);
    v->is_particular = holds(g, PLIM_PROSE_VOICE_PARTICULAR, raw, size);
    count_sentences(raw, size, v);
    v->is_log = holds(g, PLIM_PROSE_VOICE_LOG, raw, size);
    v->has_traceback = memmem(raw, size, "Traceback (most", 15) || memmem(raw, size, "File \"", 6);
    v->is_change = !v->is_log && holds(g, PLIM_PROSE_VOICE_CHANGE, raw, size);
    v->is_page = !v->is_log && !v->is_own &&
                 (((v->n_lines >= MIN_PROSE_LINES || v->is_sentences) && holds(g, PLIM_PROSE_VOICE_YOU, raw, size)) ||
                  holds(g, PLIM_PROSE_VOICE_PAGE, raw, size) || holds(g, PLIM_PROSE_SAID_PAGE, raw, size));
}

/* Nothing in the text says that it is somebody's own failure, and more than a line says that it is not. */
static bool is_about_failures(const struct voice *v)
{
    return v->is_page || v->is_change ||
           (v->is_sentences && v->n_lines >= MIN_PROSE_LINES && !v->is_log && !v->is_own && v->size > LONG_TEXT);
}

/* A word or a few, without a sign, a figure or a name of a program's: anybody's words. */
static bool is_bare(const char *words, size_t size, bool may_have_digits)
{
    unsigned n_words = 1;
    for (size_t i = 0; i < size; i++) {
        const bool is_capital = words[i] >= 'A' && words[i] <= 'Z';
        const bool is_digit = may_have_digits && words[i] >= '0' && words[i] <= '9';
        if (!is_small(words[i]) && !is_capital && !is_digit && words[i] != ' ' && words[i] != '-')
            return false;
        if (is_capital && i > 0 && is_lower(words[i - 1]))
            return false;
        n_words += words[i] == ' ';
    }
    return n_words <= BARE_WORDS && words[size] != ':';
}

/* Words in small letters stand in a row in the text. */
static bool has_run(const char *text, size_t size, unsigned n_words)
{
    unsigned n = 0;
    for (size_t at = 0; at < size; at++) {
        n = next_word(text, size, &at) ? n + 1 : 0;
        if (n == n_words)
            return true;
    }
    return false;
}

static bool is_in_words(const struct plim_window *w, size_t start, size_t end, size_t from, size_t to)
{
    return has_run(w->text + from, start - from, MIN_START) || has_run(w->text + end, to - end, MIN_START);
}

/* In a text about failures: what a page shows behind its sentences, or words in one, and not a program's own line. */
static bool is_of_a_page(const struct voice *v, const struct plim_window *w, const char *raw, size_t start, size_t end,
                         size_t from)
{
    struct voice before = { 0 };
    count_sentences(raw, w->from[start], &before);
    if (v->is_page && before.n_lines > 0)
        return true;
    if (memchr(w->text + from, ':', start - from))
        return false; /* "ERROR: the words" */
    return v->is_change || is_bare(w->text + start, end - start, true) ||
           has_run(w->text + from, start - from, WORDS_BEFORE);
}

/* By the line: code, a list of changes, a page of help. */
static enum plim_text_kind kind_of_line(struct plim_text_kinds *g, const struct plim_window *w, const char *raw,
                                        size_t start, size_t end)
{
    const size_t first = line_start(w, start), last = line_end(w, start);
    const char *line = w->text + first;
    /* A message can be at the end of what began with a line of the source. */
    if (is_code(g, w, raw, start) && is_code(g, w, raw, end > start ? end - 1 : start))
        return PLIM_TEXT_KIND_CODE;
    if (holds(g, PLIM_PROSE_CHANGE, line, last - first))
        return PLIM_TEXT_KIND_CHANGES;
    if (holds(g, PLIM_PROSE_HELP, line, last - first))
        return PLIM_TEXT_KIND_HELP;
    return PLIM_TEXT_KIND_LOG;
}

/* A page that shows a message goes on with its meaning: what stands behind a colon is the message. */
static bool is_definition(struct plim_text_kinds *g, const struct plim_window *w, size_t from, size_t start, size_t end,
                          size_t to)
{
    return holds(g, PLIM_PROSE_DEFINITION, w->text + from, start - from) ||
           (!memchr(w->text + from, ':', to - from) && holds(g, PLIM_PROSE_DEFINITION, w->text + end, to - end));
}

enum plim_text_kind plim_text_kind_at(struct plim_text_kinds *g, const struct plim_window *w, const char *raw,
                                      uint32_t raw_start, uint32_t raw_end)
{
    const size_t start = place_of(w, raw_start), end = end_of(w, raw_end);
    if (start >= w->length)
        return PLIM_TEXT_KIND_LOG;
    const enum plim_text_kind kind = kind_of_line(g, w, raw, start, end);
    if (kind != PLIM_TEXT_KIND_LOG)
        return kind;
    const size_t from = sentence_start(w, start), to = sentence_end(w, end);
    if (holds(g, PLIM_PROSE_TESTED_STRING, w->text + from, to - from))
        return PLIM_TEXT_KIND_CODE;
    if (holds(g, PLIM_PROSE_QUESTION, w->text + from, start - from))
        return PLIM_TEXT_KIND_PROSE;
    if (is_about_failures(&g->voice) && is_of_a_page(&g->voice, w, raw, start, end, from))
        return PLIM_TEXT_KIND_PROSE;
    if (holds(g, PLIM_PROSE_REPORT, w->text + from, to - from))
        return PLIM_TEXT_KIND_LOG;
    if (g->voice.size > 0 && !g->voice.is_log && is_bare(w->text + start, end - start, false) &&
        !memchr(w->text + from, ':', start - from) && is_in_words(w, start, end, from, to))
        return plim_text_is_statement(g, w, raw, raw_start, raw_end) ? PLIM_TEXT_KIND_LOG : PLIM_TEXT_KIND_PROSE;
    const bool is_past = memmem(w->text + start, end - start, " ran out", 8) != NULL;
    if ((!is_past && holds(g, PLIM_PROSE_ADVICE, w->text + from, start - from)) ||
        holds(g, PLIM_PROSE_EXPLANATION, w->text + end, to - end) || is_definition(g, w, from, start, end, to))
        return PLIM_TEXT_KIND_PROSE;
    return PLIM_TEXT_KIND_LOG;
}

/* --- what people write --- */

/* A sentence around words for a failure of memory. */
struct sentence {
    const char *text, *words, *behind;
    size_t n_text, n_before, n_words, n_behind;
};

static bool is_denied(struct plim_text_kinds *g, const struct sentence *s)
{
    return holds(g, PLIM_PROSE_SAID_ASIDE, s->text, s->n_text) ||
           holds(g, PLIM_PROSE_TESTED_STRING, s->text, s->n_text) ||
           holds(g, PLIM_PROSE_QUESTION, s->text, s->n_before) ||
           holds(g, PLIM_PROSE_SAID_DENIED, s->text, s->n_before) ||
           holds(g, PLIM_PROSE_SAID_NAMED, s->behind, s->n_behind);
}

/* Nobody tells it, and it is what such failures are like in general. */
static bool is_general_talk(struct plim_text_kinds *g, const struct sentence *s)
{
    return !g->voice.is_report && !holds(g, PLIM_PROSE_SAID_TELLER, s->text, s->n_text) &&
           (holds(g, PLIM_PROSE_EXPLANATION, s->behind, s->n_behind) ||
            holds(g, PLIM_PROSE_DEFINITION, s->text, s->n_before) ||
            holds(g, PLIM_PROSE_DEFINITION, s->behind, s->n_behind) ||
            (!holds(g, PLIM_PROSE_SAID_ONCE, s->text, s->n_text) &&
             (holds(g, PLIM_PROSE_SAID_WHEN, s->text, s->n_before) ||
              holds(g, PLIM_PROSE_ADVICE, s->text, s->n_before))));
}

/* The line does not go on from the one before it. */
static bool is_own_line(const struct plim_window *w, size_t from)
{
    return from < 2 || w->is_join[from - 1] == PLIM_NEW_LINE || strchr(".!?:;", w->text[from - 2]) ||
           strchr(".!?", w->text[from - 1]);
}

/* The title of a text, or all of it. */
static bool is_title(const struct plim_window *w, size_t from, size_t to)
{
    return line_start(w, from) == 0 && from <= 2 && (w->text[0] == '#' || to + 2 >= line_end(w, 0));
}

/* Whose failure it is nobody says; but a short text that begins with it, explains nothing and addresses nobody
 * is a report. */
static bool is_nobodys(struct plim_text_kinds *g, const struct plim_window *w, const struct sentence *s)
{
    static const char *const words[] = { "mem", "MEM", "Mem", "ram", "RAM", "OOM", "oom", "存" };
    bool is_of_memory = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_of_memory = is_of_memory || memmem(s->words, s->n_words, words[i], strlen(words[i]));
    const size_t first = (size_t)(s->words - w->text);
    return !is_of_memory || line_start(w, first) > 0 || g->voice.size == 0 || g->voice.size > SHORT_TEXT ||
           holds(g, PLIM_PROSE_SAID_PAGE, w->text, w->length) || holds(g, PLIM_PROSE_VOICE_YOU, w->text, w->length) ||
           holds(g, PLIM_PROSE_SAID_GENERAL, w->text, w->length);
}

bool plim_text_is_statement(struct plim_text_kinds *g, const struct plim_window *w, const char *raw, uint32_t raw_start,
                            uint32_t raw_end)
{
    const size_t start = place_of(w, raw_start), end = end_of(w, raw_end);
    if (start >= w->length || kind_of_line(g, w, raw, start, end) != PLIM_TEXT_KIND_LOG)
        return false;
    const size_t from = sentence_start(w, start), to = sentence_end(w, end);
    const struct sentence s = { .text = w->text + from,
                                .words = w->text + start,
                                .behind = w->text + end,
                                .n_text = to - from,
                                .n_before = start - from,
                                .n_words = end - start,
                                .n_behind = to - end };
    if (is_denied(g, &s) || is_general_talk(g, &s) || is_about_failures(&g->voice))
        return false;
    if (!g->voice.is_own && !g->voice.has_traceback && !g->voice.is_particular && is_nobodys(g, w, &s) &&
        !holds(g, PLIM_PROSE_SAID_TELLER, w->text, w->length) &&
        (!is_title(w, from, to) || holds(g, PLIM_PROSE_SAID_PAGE, w->text, w->length)))
        return false; /* nobody's */
    return holds(g, PLIM_PROSE_SAID_HAPPENED, s.words, s.n_words) ||
           holds(g, PLIM_PROSE_SAID_BEFORE, s.text, s.n_before) ||
           holds(g, PLIM_PROSE_SAID_CAME, s.behind, s.n_behind) || g->voice.has_traceback ||
           (is_own_line(w, from) && holds(g, PLIM_PROSE_SAID_TITLE, s.text, s.n_before) &&
            holds(g, PLIM_PROSE_SAID_BEHIND, s.behind, s.n_behind));
}

bool plim_text_is_bare(const struct plim_text_kinds *g, const struct plim_window *w, uint32_t raw_start,
                       uint32_t raw_end)
{
    const size_t start = place_of(w, raw_start), end = end_of(w, raw_end);
    const size_t line = line_start(w, start);
    return g->voice.size > 0 && !g->voice.is_log && start < end && is_bare(w->text + start, end - start, false) &&
           !memchr(w->text + line, ':', start - line);
}

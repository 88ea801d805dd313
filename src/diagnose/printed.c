/* SPDX-License-Identifier: MIT */
#include "diagnose/printed.h"

#include "base/gnu_string.h"
#include "diagnose/cause/purpose.h"
#include "diagnose/scan/prefix.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    MOST_LINE_BYTES = 600,
    MAX_TOKENS = 96, /* of a line; the rest is passed over */
    MAX_SERIES_KINDS = 8,
    STATE_WORDS = 2, /* behind a figure, within which it is said how the memory is: "of 5.79 GiB free" */
    AFTER_WORDS = 5, /* behind a figure: "of keys and values" */
    KEY_WORDS = 2,   /* before a figure, that make lines ones of the same form */
    BEFORE_TEXT = 24,
};

/* A word, a number, or one character of another kind. */
struct token {
    enum { WORD, NUMBER, MARK } kind;
    const char *text;
    size_t n;
    int64_t bytes; /* of a number with a unit, or with one of its pair; else PLIM_UNKNOWN */
    bool is_whole; /* of a pair, "1.17 of 5.79 GiB": the second */
    enum plim_purpose purpose;
    enum plim_purpose_weight weight;
};

struct line {
    struct token tokens[MAX_TOKENS];
    unsigned n;
    const char *text;
    size_t bytes;
    bool is_of_loading, is_of_others;
};

/* Lines of one form: the same purpose and the same words before the figure. */
struct form {
    uint32_t key;
    enum plim_purpose purpose;
    struct plim_point points[PLIM_MAX_SERIES];
    uint32_t n;
};

struct reader {
    struct plim_printed *printed;
    int64_t column_unit; /* of the last column of a table, by its head; 0: no table */
    struct form forms[MAX_SERIES_KINDS];
    unsigned n_forms;
    bool has_begun;
};

/* --- a line as tokens --- */

static bool is_letter(char c) { return isalpha((unsigned char)c); }
static bool is_digit(char c) { return isdigit((unsigned char)c); }

/* "GiB", "GB", "MiB", "MB", "KiB", "kB", "TiB": bytes of one, and in *ret_n its letters; 0: none. Not "MB/s". */
static int64_t read_unit(const char *text, const char *end, size_t *ret_n)
{
    static const char letters[] = "KMGT";
    const char *letter = text < end ? strchr(letters, toupper((unsigned char)*text)) : NULL;
    const size_t n = text + 1 < end && text[1] == 'i' ? 3 : 2;
    if (!letter || !*letter || text + n > end || text[n - 1] != 'B' || (*text != 'k' && islower((unsigned char)*text)))
        return 0;
    if (text + n < end && (is_letter(text[n]) || text[n] == '/'))
        return 0;
    *ret_n = n;
    return INT64_C(1) << 10 * (letter - letters + 1);
}

/* A number with at most one point; thousands may be grouped. Its end, and its value. */
static const char *read_number(const char *text, const char *end, double *ret_value)
{
    double value = 0, unit = 1;
    for (; text < end && (is_digit(*text) || (*text == ',' && text + 1 < end && is_digit(text[1]))); text++)
        value = *text == ',' ? value : 10 * value + (*text - '0');
    if (text + 1 < end && *text == '.' && is_digit(text[1]))
        for (text++; text < end && is_digit(*text); text++)
            value += (unit /= 10) * (*text - '0');
    *ret_value = value;
    return text;
}

/* Behind "1.17", " of 5.79 GiB" or "/5.79GiB": the unit of both; 0: no pair. */
static int64_t unit_of_pair(const char *text, const char *end)
{
    static const char *const joints[] = { " of ", "/", " / ", " out of " };
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        const size_t n = strlen(joints[i]);
        double value;
        size_t unit_n;
        if ((size_t)(end - text) <= n || memcmp(text, joints[i], n) != 0 || !is_digit(text[n]))
            continue;
        const char *p = read_number(text + n, end, &value);
        p += p < end && *p == ' ';
        return read_unit(p, end, &unit_n);
    }
    return 0;
}

/* The number at `token` is the second of a pair: "1.17 of 5.79 GiB", "10992MiB / 11936MiB", "1.69 GB free of 6.21 GB".
 */
static bool is_second(const struct line *line, const struct token *token)
{
    if (line->n < 2)
        return false;
    const bool is_of = token[-1].kind == WORD && token[-1].n == 2 && !memcmp(token[-1].text, "of", 2);
    const bool is_joint = is_of || (token[-1].kind == MARK && *token[-1].text == '/');
    const bool has_state = is_of && line->n > 2 && token[-2].kind == WORD && token[-2].weight == PLIM_PURPOSE_STATE;
    return is_joint && (token[-2].bytes != PLIM_UNKNOWN || (has_state && token[-3].bytes != PLIM_UNKNOWN));
}

/* "free_mb": 442, "gpu_allocated_mib=3015": the unit of the name before it; 0: none. */
static int64_t unit_of_name(const struct line *line)
{
    static const char *const names[] = { "kb", "kib", "mb", "mib", "gb", "gib" };
    const struct token *token = &line->tokens[line->n];
    while (token > line->tokens && token[-1].kind == MARK && strchr("\"':=", *token[-1].text))
        token--;
    if (token == line->tokens || token == &line->tokens[line->n] || token[-1].kind != WORD)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (token[-1].n == strlen(names[i]) && !strncasecmp(token[-1].text, names[i], token[-1].n))
            return INT64_C(1) << 10 * (1 + i / 2);
    return 0;
}

static const char *add_number(struct line *line, const char *text, const char *end)
{
    struct token *token = &line->tokens[line->n];
    double value;
    size_t unit_n = 0;
    const char *behind = read_number(text, end, &value);
    const char *unit_at = behind + (behind < end && *behind == ' ');
    int64_t unit = read_unit(unit_at, end, &unit_n);
    if (!unit && ((unit = unit_of_pair(behind, end)) != 0 || (unit = unit_of_name(line)) != 0))
        unit_n = 0;
    *token = (struct token){ NUMBER, text, (size_t)(behind - text), PLIM_UNKNOWN, false, PLIM_PURPOSE_NONE, 0 };
    if (unit && value < 1e6) {
        token->bytes = (int64_t)(value * (double)unit);
        token->is_whole = is_second(line, token);
    }
    line->n++;
    return unit_n ? unit_at + unit_n : behind;
}

static const char *add_word(struct line *line, const char *text, const char *end)
{
    struct token *token = &line->tokens[line->n], *before = line->n > 0 ? token - 1 : NULL;
    const char *p = text;
    while (p < end && (is_letter(*p) || (*p == '/' && p + 1 < end && is_letter(p[1]))))
        p++;
    *token = (struct token){ WORD, text, (size_t)(p - text), PLIM_UNKNOWN, false, PLIM_PURPOSE_NONE, 0 };
    token->purpose = plim_purpose_of_word(text, token->n, &token->weight);
    if (token->n == 3 && !memcmp(text, "use", 3) && before && before->n == 2 && !memcmp(before->text, "in", 2)) {
        token->purpose = PLIM_PURPOSE_USED;
        token->weight = PLIM_PURPOSE_STATE;
    }
    const bool is_count = before && before->n == 1 && strchr("BM", *before->text); /* "4.76 B parameters" */
    const bool is_of_weights = is_count && token->purpose == PLIM_PURPOSE_WEIGHTS;
    line->is_of_loading = line->is_of_loading || is_of_weights || token->purpose == PLIM_PURPOSE_LOADING;
    line->is_of_others = line->is_of_others || token->purpose == PLIM_PURPOSE_OTHERS;
    line->n++;
    return p;
}

static void read_tokens(const char *text, size_t n, struct line *ret_line)
{
    const char *p = text, *const end = text + n;
    ret_line->n = 0;
    ret_line->text = text;
    ret_line->bytes = n;
    ret_line->is_of_loading = ret_line->is_of_others = false;
    while (p < end && ret_line->n < MAX_TOKENS) {
        const bool is_inner = p > text && (is_letter(p[-1]) || is_digit(p[-1]));
        if (is_letter(*p)) {
            p = add_word(ret_line, p, end);
        } else if (is_digit(*p) && !is_inner) {
            p = add_number(ret_line, p, end);
        } else if (is_digit(*p) || *p == ' ' || *p == '_' || *p == '-') {
            p++;
        } else {
            ret_line->tokens[ret_line->n++] = (struct token){ MARK, p, 1, PLIM_UNKNOWN, false, PLIM_PURPOSE_NONE, 0 };
            p++;
        }
    }
}

/* --- what a figure is of --- */

static bool is_figure(const struct token *token) { return token->kind == NUMBER && token->bytes != PLIM_UNKNOWN; }

/* Says what a figure is of; what lines are of says something else. */
static bool is_telling(const struct token *token)
{
    return token->purpose != PLIM_PURPOSE_NONE && token->purpose != PLIM_PURPOSE_LOADING &&
           token->purpose != PLIM_PURPOSE_OTHERS;
}

static bool is_break(const struct token *token)
{
    return token->kind == MARK && (*token->text == ';' || *token->text == '|');
}

/* "3.2 GiB in use", "1.17 of 5.79 GiB free" */
static enum plim_purpose state_behind(const struct line *line, unsigned at)
{
    unsigned words = 0;
    for (unsigned i = at + 1; i < line->n && words < STATE_WORDS; i++) {
        const struct token *token = &line->tokens[i];
        if (is_figure(token) && !token->is_whole)
            break;
        if (token->kind == MARK && *token->text != '/' && *token->text != '(')
            break;
        if (is_telling(token) && token->weight == PLIM_PURPOSE_STATE && token->purpose != PLIM_PURPOSE_CARD)
            return token->purpose;
        words += token->kind == WORD && token->n > 2;
    }
    return PLIM_PURPOSE_NONE;
}

/* Between the figure before it and this one: the nearest that is sure, else the nearest of all. */
static enum plim_purpose purpose_before(const struct line *line, unsigned at)
{
    enum plim_purpose weak = PLIM_PURPOSE_NONE;
    bool is_past_number = false; /* "tiles 3200, memory 5.6 GiB": the memory is not that of the tiles */
    for (unsigned i = at; i-- > 0;) {
        const struct token *token = &line->tokens[i];
        if (is_break(token) || is_figure(token))
            break;
        is_past_number = is_past_number || token->kind == NUMBER;
        if (!is_telling(token))
            continue;
        if (token->weight != PLIM_PURPOSE_WEAK)
            return token->purpose;
        if (weak == PLIM_PURPOSE_NONE || (weak == PLIM_PURPOSE_MEMORY && !is_past_number))
            weak = token->purpose;
    }
    return weak;
}

static enum plim_purpose purpose_behind(const struct line *line, unsigned at)
{
    unsigned words = 0;
    for (unsigned i = at + 1; i < line->n && words < AFTER_WORDS; i++) {
        const struct token *token = &line->tokens[i];
        if (is_break(token) || is_figure(token) ||
            (token->kind == MARK && (*token->text == ',' || *token->text == ')')))
            break;
        if (is_telling(token))
            return token->purpose;
        words += token->kind == WORD;
    }
    return PLIM_PURPOSE_NONE;
}

static enum plim_purpose purpose_of(const struct line *line, unsigned at)
{
    const enum plim_purpose state = state_behind(line, at);
    if (state != PLIM_PURPOSE_NONE)
        return state;
    const enum plim_purpose before = purpose_before(line, at);
    return before != PLIM_PURPOSE_NONE && before != PLIM_PURPOSE_MEMORY ? before
           : purpose_behind(line, at) != PLIM_PURPOSE_NONE              ? purpose_behind(line, at)
                                                                        : before;
}

/* --- what follows from the lines --- */

/* From a word before the figure to the end of those behind it. */
static void keep(struct plim_printed_figure *figure, const struct line *line, unsigned at)
{
    const struct token *token = &line->tokens[at];
    const char *start = token->text, *const end = line->text + line->bytes;
    for (unsigned i = at; i-- > 0 && !is_figure(&line->tokens[i]) && !is_break(&line->tokens[i]) &&
                          token->text - line->tokens[i].text < BEFORE_TEXT;)
        start = line->tokens[i].kind == WORD ? line->tokens[i].text : start;
    size_t n = (size_t)(end - start);
    if (n > sizeof figure->text - 1)
        n = sizeof figure->text - 1;
    const char *stop = memchr(start, ';', n);
    n = stop ? (size_t)(stop - start) : n;
    figure->bytes = token->bytes;
    memcpy(figure->text, start, n);
    while (n > 0 && (figure->text[n - 1] == ' ' || figure->text[n - 1] == ','))
        n--;
    figure->text[n] = '\0';
}

static uint32_t key_of(const struct line *line, unsigned at, enum plim_purpose purpose, bool is_row)
{
    uint32_t key = 2166136261U + (uint32_t)purpose, words = is_row ? KEY_WORDS : 0;
    for (unsigned i = at; i-- > 0 && words < KEY_WORDS && !is_figure(&line->tokens[i]);)
        if (line->tokens[i].kind == WORD) {
            for (size_t k = 0; k < line->tokens[i].n; k++)
                key = (key ^ (unsigned char)line->tokens[i].text[k]) * 16777619U;
            words++;
        }
    return key;
}

static void add_point(struct reader *reader, const struct line *line, unsigned at, enum plim_purpose purpose)
{
    const uint32_t key = key_of(line, at, purpose, reader->column_unit != 0);
    struct form *form = reader->forms;
    while (form < reader->forms + reader->n_forms && form->key != key)
        form++;
    if (form == reader->forms + reader->n_forms) {
        if (reader->n_forms == MAX_SERIES_KINDS)
            return;
        *form = (struct form){ .key = key, .purpose = purpose };
        reader->n_forms++;
    }
    if (line->is_of_loading && (purpose == PLIM_PURPOSE_USED || purpose == PLIM_PURPOSE_MEMORY))
        form->purpose = PLIM_PURPOSE_WEIGHTS;
    if (form->n == PLIM_MAX_SERIES)
        memmove(form->points, form->points + 1, --form->n * sizeof *form->points);
    const int64_t bytes = line->tokens[at].bytes;
    form->points[form->n++] =
        (struct plim_point){ PLIM_UNKNOWN, purpose == PLIM_PURPOSE_FREE ? -bytes : bytes, { PLIM_STAMP_NONE, 0 } };
}

/* What was free, or in use, before the program had anything. */
static void take_beginning(struct reader *reader, const struct line *line, unsigned at, enum plim_purpose purpose)
{
    struct plim_printed_figure *first = &reader->printed->first_free;
    const struct token *token = &line->tokens[at];
    if (!reader->has_begun && purpose == PLIM_PURPOSE_FREE) {
        keep(first, line, at);
    } else if (!reader->has_begun && purpose == PLIM_PURPOSE_USED && line->is_of_others && at + 2 < line->n &&
               token[2].is_whole && token[2].bytes > token->bytes) {
        keep(first, line, at);
        first->bytes = token[2].bytes - token->bytes;
    }
    reader->has_begun = reader->has_begun || purpose != PLIM_PURPOSE_TOTAL;
}

static void take_figure(struct reader *reader, const struct line *line, unsigned at)
{
    struct plim_printed *printed = reader->printed;
    const struct token *token = &line->tokens[at];
    const enum plim_purpose purpose = token->is_whole ? PLIM_PURPOSE_TOTAL : purpose_of(line, at);
    struct plim_printed_figure *figure = &printed->figure[purpose];
    const bool is_largest =
        purpose == PLIM_PURPOSE_WEIGHTS || purpose == PLIM_PURPOSE_OPTIMIZER || purpose == PLIM_PURPOSE_TOTAL;
    if (purpose == PLIM_PURPOSE_HOST || purpose == PLIM_PURPOSE_CARD || token->bytes <= 0)
        return;
    take_beginning(reader, line, at, purpose);
    if (purpose == PLIM_PURPOSE_NONE)
        return;
    if (purpose == PLIM_PURPOSE_WEIGHTS || purpose == PLIM_PURPOSE_OPTIMIZER || purpose == PLIM_PURPOSE_KV ||
        purpose == PLIM_PURPOSE_WORK)
        printed->last = purpose;
    if (!is_largest || token->bytes > figure->bytes)
        keep(figure, line, at);
    if (purpose != PLIM_PURPOSE_TOTAL && (purpose != PLIM_PURPOSE_FREE || !line->is_of_others))
        add_point(reader, line, at, purpose);
}

/* What other programs and libraries print is read by patterns, tracebacks by frames.c; tables of the host are no
 * figures of the card. */
static bool is_of_others(const char *text, size_t n)
{
    static const char *const signs[] = { "File \"", ".cc:",  ".cpp:",   "ried to alloc", "RESOURCE_EXHAUSTED",
                                         "rror: ",  "Mem: ", "Swap: ",  "Filesystem",    "ut of memory",
                                         "tmpfs",   "^^^",   "Warning", "rsion" };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (memmem(text, n, signs[i], strlen(signs[i])))
            return true;
    return false;
}

/* "on NVIDIA GeForce RTX 3070", "device Tesla T4 limit": up to what is no part of a name. */
static void read_card(const char *text, size_t n, struct plim_printed *printed)
{
    static const char *const makers[] = { "NVIDIA ", "Tesla ", "GeForce ", "Quadro " };
    for (size_t i = 0; i < sizeof makers / sizeof *makers && !printed->card[0]; i++) {
        const char *at = memmem(text, n, makers[i], strlen(makers[i]));
        if (!at)
            continue;
        size_t k = 0, words = 0;
        for (; at + k < text + n && k < sizeof printed->card - 1; k++) {
            const char c = at[k];
            if (!is_letter(c) && !is_digit(c) && c != ' ' && c != '-')
                break;
            if (c == ' ' && ++words > 1 && k + 1 < n && islower((unsigned char)at[k + 1]))
                break;
        }
        while (k > 0 && at[k - 1] == ' ')
            k--;
        memcpy(printed->card, at, k);
        printed->card[k] = '\0';
    }
}

/* XLA's requests for its pool: the first that was refused, and those behind it that are each a tenth less. */
static bool read_grab(const char *text, size_t n, struct plim_printed *printed)
{
    static const char sign[] = "allocate device memory of ";
    const char *at = memmem(text, n, sign, sizeof sign - 1), *const end = text + n;
    double value;
    size_t unit_n;
    if (!at)
        return false;
    const char *unit = read_number(at + sizeof sign - 1, end, &value);
    const double bytes = value * (double)read_unit(unit, end, &unit_n);
    const double share = printed->n_grabs ? bytes / (double)printed->last_grab_bytes : 0.9;
    if (bytes > 0 && bytes < 1e15 && share > 0.89 && share < 0.91) {
        printed->last_grab_bytes = (int64_t)bytes;
        if (!printed->n_grabs++)
            printed->first_grab_bytes = (int64_t)bytes;
    }
    return true;
}

static bool has_unit(const char *text, size_t n)
{
    static const char *const names[] = { "_mb", "_mib", "_gb", "_gib", "\"gib\"", "\"mib\"", "\"gb\"", "\"mb\"" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memmem(text, n, names[i], strlen(names[i])))
            return true;
    for (const char *p = text, *const end = text + n; (p = memchr(p, 'B', (size_t)(end - p))) != NULL; p++)
        if (p > text && (p[-1] == 'i' || (p[-1] >= 'G' && p[-1] <= 'T') || p[-1] == 'k'))
            return true;
    return false;
}

/* The head of a table, whose last column is of memory: "step  loss  GPU MiB", "... mem (GB)". */
static int64_t unit_of_head(const char *text, size_t n)
{
    size_t unit_n = 0;
    while (n > 0 && strchr(" )]", text[n - 1]))
        n--;
    for (size_t i = 0; i < n; i++)
        if (is_digit(text[i]))
            return 0;
    for (size_t size = 2; size <= 3 && size < n; size++) {
        const int64_t unit = read_unit(text + n - size, text + n, &unit_n);
        if (unit && unit_n == size && strchr(" ([", text[n - size - 1]))
            return unit;
    }
    return 0;
}

/* A row of such a table: its last number. */
static bool read_row(struct reader *reader, const char *text, size_t n)
{
    struct line line;
    read_tokens(text, n, &line);
    struct token *last = line.n > 1 ? &line.tokens[line.n - 1] : NULL;
    double value;
    if (!last || last->kind != NUMBER || last->bytes != PLIM_UNKNOWN)
        return false;
    read_number(last->text, text + n, &value);
    last->bytes = value < 1e9 ? (int64_t)(value * (double)reader->column_unit) : 0;
    if (last->bytes > 0)
        add_point(reader, &line, line.n - 1, PLIM_PURPOSE_MEMORY);
    return true;
}

static void read_line(struct reader *reader, const char *text, size_t n)
{
    struct line line;
    if (n > MOST_LINE_BYTES || n < 4)
        return;
    if (reader->column_unit && read_row(reader, text, n))
        return;
    reader->column_unit = unit_of_head(text, n);
    const bool has_figure = has_unit(text, n);
    if (has_figure && read_grab(text, n, reader->printed))
        return;
    if ((!has_figure && reader->printed->card[0]) || is_of_others(text, n))
        return;
    read_card(text, n, reader->printed);
    if (!has_figure)
        return;
    const size_t prefix = plim_prefix_bytes(text, n, false);
    read_tokens(text + prefix, n - prefix, &line);
    for (unsigned i = 0; i < line.n; i++)
        if (is_figure(&line.tokens[i]))
            take_figure(reader, &line, i);
}

/* The longest one. */
static void take_series(const struct reader *reader)
{
    struct plim_printed *printed = reader->printed;
    const struct form *best = NULL;
    for (unsigned i = 0; i < reader->n_forms; i++)
        if (!best || reader->forms[i].n > best->n)
            best = &reader->forms[i];
    if (!best)
        return;
    printed->series_of = best->purpose;
    printed->n_series = best->n;
    memcpy(printed->series, best->points, best->n * sizeof *best->points);
}

void plim_printed_read(const char *text, size_t n, struct plim_printed *ret_printed)
{
    const char *const end = text + n;
    struct reader reader = { .printed = ret_printed };
    memset(ret_printed, 0, sizeof *ret_printed);
    for (const char *line = text; line < end;) {
        const char *stop = line;
        while (stop < end && *stop != '\n' && *stop != '\r')
            stop++;
        read_line(&reader, line, (size_t)(stop - line));
        line = stop + 1;
    }
    take_series(&reader);
    ret_printed->is_adam = memmem(text, n, "adam", 4) || memmem(text, n, "Adam", 4);
}

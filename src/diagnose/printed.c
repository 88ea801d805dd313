/* SPDX-License-Identifier: MIT */
#include "diagnose/printed.h"

#include "base/gnu_string.h"
#include "diagnose/printed_line.h"
#include "diagnose/scan/prefix.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum {
    MOST_LINE_BYTES = 600,
    MAX_SERIES_KINDS = 8,
    KEY_WORDS = 2, /* before a figure, that make lines ones of the same form */
    BEFORE_TEXT = 24,
};

/* XLA's BFCAllocator asks for so much of what was refused (kBackpedalFactor in tsl/framework/bfc_allocator.cc), and
 * prints two decimals. */
#define GRAB_SHARE    0.9
#define GRAB_ROUNDING 0.01

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
    bool is_smi;         /* the line before was the head of nvidia-smi's CSV: memory.used and memory.total are next */
    struct form forms[MAX_SERIES_KINDS];
    unsigned n_forms;
    bool has_begun;
};

static bool is_letter(char c) { return isalpha((unsigned char)c); }
static bool is_digit(char c) { return isdigit((unsigned char)c); }

/* From a word before the figure to the end of those behind it. */
static void keep(struct plim_printed_figure *figure, const struct plim_printed_line *line, unsigned at)
{
    const struct plim_printed_token *token = &line->tokens[at];
    const char *start = token->text, *const end = line->text + line->bytes;
    for (unsigned i = at; i-- > 0 && !plim_printed_token_is_figure(&line->tokens[i]) &&
                          !plim_printed_token_is_break(&line->tokens[i]) &&
                          token->text - line->tokens[i].text < BEFORE_TEXT;)
        start = line->tokens[i].kind == PLIM_TOKEN_WORD ? line->tokens[i].text : start;
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

static uint32_t key_of(const struct plim_printed_line *line, unsigned at, enum plim_purpose purpose, bool is_row)
{
    uint32_t key = 2166136261U + (uint32_t)purpose, words = is_row ? KEY_WORDS : 0;
    for (unsigned i = at; i-- > 0 && words < KEY_WORDS && !plim_printed_token_is_figure(&line->tokens[i]);)
        if (line->tokens[i].kind == PLIM_TOKEN_WORD) {
            for (size_t k = 0; k < line->tokens[i].n; k++)
                key = (key ^ (unsigned char)line->tokens[i].text[k]) * 16777619U;
            words++;
        }
    return key;
}

static void add_point(struct reader *reader, const struct plim_printed_line *line, unsigned at,
                      enum plim_purpose purpose)
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
static void take_beginning(struct reader *reader, const struct plim_printed_line *line, unsigned at,
                           enum plim_purpose purpose)
{
    struct plim_printed_figure *first = &reader->printed->first_free;
    const struct plim_printed_token *token = &line->tokens[at];
    if (!reader->has_begun && purpose == PLIM_PURPOSE_FREE) {
        keep(first, line, at);
    } else if (!reader->has_begun && purpose == PLIM_PURPOSE_USED && line->is_of_others && at + 2 < line->n &&
               token[2].is_whole && token[2].bytes > token->bytes) {
        keep(first, line, at);
        first->bytes = token[2].bytes - token->bytes;
    }
    reader->has_begun = reader->has_begun || (purpose != PLIM_PURPOSE_TOTAL && purpose != PLIM_PURPOSE_MEMORY);
}

static void take_figure(struct reader *reader, const struct plim_printed_line *line, unsigned at)
{
    struct plim_printed *printed = reader->printed;
    const struct plim_printed_token *token = &line->tokens[at];
    const enum plim_purpose purpose = token->is_whole ? PLIM_PURPOSE_TOTAL : plim_printed_line_purpose(line, at);
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
    size_t unit_n;
    if (!at)
        return false;
    const char *number = at + sizeof sign - 1, *unit = plim_printed_number_end(number, end);
    const int64_t bytes = plim_printed_bytes(number, unit, plim_printed_unit_read(unit, end, &unit_n));
    const double share = printed->n_grabs ? (double)bytes / (double)printed->last_grab_bytes : GRAB_SHARE;
    if (bytes > 0 && fabs(share - GRAB_SHARE) < GRAB_ROUNDING) {
        printed->last_grab_bytes = bytes;
        if (!printed->n_grabs++)
            printed->first_grab_bytes = bytes;
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
        const int64_t unit = plim_printed_unit_read(text + n - size, text + n, &unit_n);
        if (unit && unit_n == size && strchr(" ([", text[n - size - 1]))
            return unit;
    }
    return 0;
}

/* A row of such a table: its last number. */
static bool read_row(struct reader *reader, const char *text, size_t n)
{
    struct plim_printed_line line;
    plim_printed_line_read(text, n, &line);
    struct plim_printed_token *last = line.n > 1 ? &line.tokens[line.n - 1] : NULL;
    if (!last || last->kind != PLIM_TOKEN_NUMBER || last->bytes != PLIM_UNKNOWN)
        return false;
    last->bytes = plim_printed_bytes(last->text, last->text + last->n, reader->column_unit);
    if (last->bytes > 0)
        add_point(reader, &line, line.n - 1, PLIM_PURPOSE_MEMORY);
    return true;
}

/* "NVIDIA GeForce RTX 2080, 7131 MiB, 8192 MiB": what everybody has on the card, before this program has anything. */
static void read_smi(struct reader *reader, const char *text, size_t n)
{
    struct plim_printed_line line;
    unsigned at[2], count = 0;
    plim_printed_line_read(text, n, &line);
    for (unsigned i = 0; i < line.n; i++)
        if (plim_printed_token_is_figure(&line.tokens[i])) {
            at[0] = count ? at[1] : i;
            at[1] = i;
            count++;
        }
    if (count < 2 || reader->has_begun || line.tokens[at[1]].bytes <= line.tokens[at[0]].bytes)
        return;
    struct plim_printed_figure *first = &reader->printed->first_free;
    keep(first, &line, at[0]);
    first->bytes = line.tokens[at[1]].bytes - line.tokens[at[0]].bytes;
    keep(&reader->printed->figure[PLIM_PURPOSE_TOTAL], &line, at[1]);
}

static void read_line(struct reader *reader, const char *text, size_t n)
{
    struct plim_printed_line line;
    if (n > MOST_LINE_BYTES || n < 4)
        return;
    if (reader->is_smi)
        read_smi(reader, text, n);
    reader->is_smi = memmem(text, n, "memory.used", 11) && memmem(text, n, "memory.total", 12);
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
    plim_printed_line_read(text + prefix, n - prefix, &line);
    for (unsigned i = 0; i < line.n; i++)
        if (plim_printed_token_is_figure(&line.tokens[i]))
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

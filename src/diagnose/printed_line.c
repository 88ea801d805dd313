/* SPDX-License-Identifier: MIT */
#include "diagnose/printed_line.h"

#include "diagnose/scan/patterns/figure.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    STATE_WORDS = 2, /* behind a figure, within which it is said how the memory is: "of 5.79 GiB free" */
    AFTER_WORDS = 5, /* behind a figure: "of keys and values" */
};

/* No machine has so much; sums of some such figures do not overflow. */
#define MOST_BYTES (INT64_C(1) << 50)

static bool is_letter(char c) { return isalpha((unsigned char)c); }
static bool is_digit(char c) { return isdigit((unsigned char)c); }

int64_t plim_printed_unit_read(const char *text, const char *end, size_t *ret_n)
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

const char *plim_printed_number_end(const char *text, const char *end)
{
    for (; text < end && (is_digit(*text) || (*text == ',' && text + 1 < end && is_digit(text[1]))); text++)
        ;
    if (text + 1 < end && *text == '.' && is_digit(text[1]))
        for (text++; text < end && is_digit(*text); text++)
            ;
    return text;
}

int64_t plim_printed_bytes(const char *text, const char *number_end, int64_t unit_bytes)
{
    int64_t bytes;
    const enum plim_figure figure =
        plim_figure_read(text, (size_t)(number_end - text), PLIM_NUMBER_BYTES, unit_bytes, &bytes);
    return figure == PLIM_FIGURE_OK && bytes <= MOST_BYTES ? bytes : PLIM_UNKNOWN;
}

/* Behind "1.17", " of 5.79 GiB" or "/5.79GiB": the unit of both; 0: no pair. */
static int64_t unit_of_pair(const char *text, const char *end)
{
    static const char *const joints[] = { " of ", "/", " / ", " out of " };
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        const size_t n = strlen(joints[i]);
        size_t unit_n;
        if ((size_t)(end - text) <= n || memcmp(text, joints[i], n) != 0 || !is_digit(text[n]))
            continue;
        const char *p = plim_printed_number_end(text + n, end);
        p += p < end && *p == ' ';
        return plim_printed_unit_read(p, end, &unit_n);
    }
    return 0;
}

/* The number at `token` is the second of a pair: "1.17 of 5.79 GiB", "10992MiB / 11936MiB", "1.69 GB free of 6.21 GB".
 */
static bool is_second(const struct plim_printed_line *line, const struct plim_printed_token *token)
{
    if (line->n < 2)
        return false;
    const bool is_of = token[-1].kind == PLIM_TOKEN_WORD && token[-1].n == 2 && !memcmp(token[-1].text, "of", 2);
    const bool is_joint = is_of || (token[-1].kind == PLIM_TOKEN_MARK && *token[-1].text == '/');
    const bool has_state =
        is_of && line->n > 2 && token[-2].kind == PLIM_TOKEN_WORD && token[-2].weight == PLIM_PURPOSE_STATE;
    return is_joint && (token[-2].bytes != PLIM_UNKNOWN || (has_state && token[-3].bytes != PLIM_UNKNOWN));
}

/* "free_mb": 442, "gpu_allocated_mib=3015": the unit of the name before it; 0: none. */
static int64_t unit_of_name(const struct plim_printed_line *line)
{
    static const char *const names[] = { "kb", "kib", "mb", "mib", "gb", "gib" };
    const struct plim_printed_token *token = &line->tokens[line->n];
    while (token > line->tokens && token[-1].kind == PLIM_TOKEN_MARK && strchr("\"':=", *token[-1].text))
        token--;
    if (token == line->tokens || token == &line->tokens[line->n] || token[-1].kind != PLIM_TOKEN_WORD)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (token[-1].n == strlen(names[i]) && !strncasecmp(token[-1].text, names[i], token[-1].n))
            return INT64_C(1) << 10 * (1 + i / 2);
    return 0;
}

static const char *add_number(struct plim_printed_line *line, const char *text, const char *end)
{
    struct plim_printed_token *token = &line->tokens[line->n];
    size_t unit_n = 0;
    const char *behind = plim_printed_number_end(text, end);
    const char *unit_at = behind + (behind < end && *behind == ' ');
    int64_t unit = plim_printed_unit_read(unit_at, end, &unit_n);
    if (!unit && ((unit = unit_of_pair(behind, end)) != 0 || (unit = unit_of_name(line)) != 0))
        unit_n = 0;
    *token = (struct plim_printed_token){ PLIM_TOKEN_NUMBER, text, (size_t)(behind - text), PLIM_UNKNOWN, false,
                                          PLIM_PURPOSE_NONE, 0 };
    if (unit)
        token->bytes = plim_printed_bytes(text, behind, unit);
    token->is_whole = token->bytes != PLIM_UNKNOWN && is_second(line, token);
    line->n++;
    return unit_n ? unit_at + unit_n : behind;
}

static const char *add_word(struct plim_printed_line *line, const char *text, const char *end)
{
    struct plim_printed_token *token = &line->tokens[line->n], *before = line->n > 0 ? token - 1 : NULL;
    const char *p = text;
    while (p < end && (is_letter(*p) || (*p == '/' && p + 1 < end && is_letter(p[1]))))
        p++;
    *token = (struct plim_printed_token){ PLIM_TOKEN_WORD,   text, (size_t)(p - text), PLIM_UNKNOWN, false,
                                          PLIM_PURPOSE_NONE, 0 };
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

void plim_printed_line_read(const char *text, size_t n, struct plim_printed_line *ret_line)
{
    const char *p = text, *const end = text + n;
    ret_line->n = 0;
    ret_line->text = text;
    ret_line->bytes = n;
    ret_line->is_of_loading = ret_line->is_of_others = false;
    while (p < end && ret_line->n < PLIM_MAX_TOKENS) {
        const bool is_inner = p > text && (is_letter(p[-1]) || is_digit(p[-1]));
        if (is_letter(*p)) {
            p = add_word(ret_line, p, end);
        } else if (is_digit(*p) && !is_inner) {
            p = add_number(ret_line, p, end);
        } else if (is_digit(*p) || *p == ' ' || *p == '_' || *p == '-') {
            p++;
        } else {
            ret_line->tokens[ret_line->n++] =
                (struct plim_printed_token){ PLIM_TOKEN_MARK, p, 1, PLIM_UNKNOWN, false, PLIM_PURPOSE_NONE, 0 };
            p++;
        }
    }
}

/* --- what a figure is of --- */

/* Says what a figure is of; what lines are of says something else. */
static bool is_telling(const struct plim_printed_token *token)
{
    return token->purpose != PLIM_PURPOSE_NONE && token->purpose != PLIM_PURPOSE_LOADING &&
           token->purpose != PLIM_PURPOSE_OTHERS;
}

/* "3.2 GiB in use", "1.17 of 5.79 GiB free" */
static enum plim_purpose state_behind(const struct plim_printed_line *line, unsigned at)
{
    unsigned words = 0;
    for (unsigned i = at + 1; i < line->n && words < STATE_WORDS; i++) {
        const struct plim_printed_token *token = &line->tokens[i];
        if (plim_printed_token_is_figure(token) && !token->is_whole)
            break;
        if (token->kind == PLIM_TOKEN_MARK && *token->text != '/' && *token->text != '(')
            break;
        if (is_telling(token) && token->weight == PLIM_PURPOSE_STATE && token->purpose != PLIM_PURPOSE_CARD)
            return token->purpose;
        words += token->kind == PLIM_TOKEN_WORD && token->n > 2;
    }
    return PLIM_PURPOSE_NONE;
}

/* Between the figure before it and this one: the nearest that is sure, else the nearest of all. */
static enum plim_purpose purpose_before(const struct plim_printed_line *line, unsigned at)
{
    enum plim_purpose weak = PLIM_PURPOSE_NONE;
    bool is_past_number = false; /* "tiles 3200, memory 5.6 GiB": the memory is not that of the tiles */
    for (unsigned i = at; i-- > 0;) {
        const struct plim_printed_token *token = &line->tokens[i];
        if (plim_printed_token_is_break(token) || plim_printed_token_is_figure(token))
            break;
        is_past_number = is_past_number || token->kind == PLIM_TOKEN_NUMBER;
        if (!is_telling(token))
            continue;
        if (token->weight != PLIM_PURPOSE_WEAK)
            return token->purpose;
        if (weak == PLIM_PURPOSE_NONE || (weak == PLIM_PURPOSE_MEMORY && !is_past_number))
            weak = token->purpose;
    }
    return weak;
}

static enum plim_purpose purpose_behind(const struct plim_printed_line *line, unsigned at)
{
    unsigned words = 0;
    for (unsigned i = at + 1; i < line->n && words < AFTER_WORDS; i++) {
        const struct plim_printed_token *token = &line->tokens[i];
        if (plim_printed_token_is_break(token) || plim_printed_token_is_figure(token) ||
            (token->kind == PLIM_TOKEN_MARK && (*token->text == ',' || *token->text == ')')))
            break;
        if (is_telling(token))
            return token->purpose;
        words += token->kind == PLIM_TOKEN_WORD;
    }
    return PLIM_PURPOSE_NONE;
}

enum plim_purpose plim_printed_line_purpose(const struct plim_printed_line *line, unsigned at)
{
    const enum plim_purpose state = state_behind(line, at);
    if (state != PLIM_PURPOSE_NONE)
        return state;
    const enum plim_purpose before = purpose_before(line, at);
    return before != PLIM_PURPOSE_NONE && before != PLIM_PURPOSE_MEMORY ? before
           : purpose_behind(line, at) != PLIM_PURPOSE_NONE              ? purpose_behind(line, at)
                                                                        : before;
}

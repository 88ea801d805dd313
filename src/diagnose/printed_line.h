/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_PRINTED_LINE_H
#define PLIMSOLL_DIAGNOSE_PRINTED_LINE_H

/* A line that a program printed, as words, numbers and marks; and what a figure of memory in it is of, by the words. */

#include "diagnose/cause/purpose.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLIM_MAX_TOKENS = 96 }; /* of a line; the rest is passed over */

/* A word, a number, or one character of another kind. */
struct plim_printed_token {
    enum { PLIM_TOKEN_WORD, PLIM_TOKEN_NUMBER, PLIM_TOKEN_MARK } kind;
    const char *text;
    size_t n;
    int64_t bytes; /* of a number with a unit, or with one of its pair; else PLIM_UNKNOWN */
    bool is_whole; /* of a pair, "1.17 of 5.79 GiB": the second */
    enum plim_purpose purpose;
    enum plim_purpose_weight weight;
};

struct plim_printed_line {
    struct plim_printed_token tokens[PLIM_MAX_TOKENS];
    unsigned n;
    const char *text;
    size_t bytes;
    bool is_of_loading, is_of_others;
};

/* Of text[0..n), which stays where it is. */
void plim_printed_line_read(const char *text, size_t n, struct plim_printed_line *ret_line);

/* A number of bytes. */
static inline bool plim_printed_token_is_figure(const struct plim_printed_token *token)
{
    return token->kind == PLIM_TOKEN_NUMBER && token->bytes != PLIM_UNKNOWN;
}

/* What stands on either side of it has nothing to do with each other. */
static inline bool plim_printed_token_is_break(const struct plim_printed_token *token)
{
    return token->kind == PLIM_TOKEN_MARK && (*token->text == ';' || *token->text == '|');
}

/* What the figure at this token is of; NONE: no word of the line says it. */
enum plim_purpose plim_printed_line_purpose(const struct plim_printed_line *line, unsigned at);

/* "GiB", "GB", "MiB", "MB", "KiB", "kB", "TiB": bytes of one, and in *ret_n its letters; 0: none. Not "MB/s". */
int64_t plim_printed_unit_read(const char *text, const char *end, size_t *ret_n);

/* The end of a number: digits, commas between them, and at most one point. `text` itself: none is there. */
const char *plim_printed_number_end(const char *text, const char *end);

/* The number from text to its end, of a unit of so many bytes; PLIM_UNKNOWN: more than any machine has. */
int64_t plim_printed_bytes(const char *text, const char *number_end, int64_t unit_bytes);

#endif

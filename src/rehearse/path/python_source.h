/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PATH_PYTHON_SOURCE_H
#define PLIMSOLL_REHEARSE_PATH_PYTHON_SOURCE_H

/*
 * A file of Python, as far as it takes to see where a value goes: its words, in statements. What is read is the
 * program's own text: anything may be in it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plim_python_word_kind {
    PLIM_PYTHON_NAME,   /* and keywords, and numbers */
    PLIM_PYTHON_INSIDE, /* a name inside the braces of an f-string */
    PLIM_PYTHON_STRING, /* its beginning */
    PLIM_PYTHON_SIGN    /* an operator, a bracket, a comma: one character, or a comparison or assignment of two */
};

struct plim_python_word {
    enum plim_python_word_kind kind;
    uint32_t start, length; /* in the text */
    uint32_t line;
};

/* A logical line, or the part of one on either side of `if x:`. */
struct plim_python_statement {
    uint32_t first, n; /* words */
    uint32_t first_line, last_line, indent;
};

struct plim_python_source {
    const char *text;
    struct plim_python_word *word;
    struct plim_python_statement *statement;
    uint32_t n_words, n_statements;
};

enum { PLIM_PYTHON_MAX_BYTES = 1 << 20 };

/* Read a regular file of at most PLIM_PYTHON_MAX_BYTES. False: it cannot be read, or is no text. */
bool plim_python_source_open(const char *path, struct plim_python_source *ret_source);

/* The same of a text, which is copied. */
bool plim_python_source_of(const char *text, size_t length, struct plim_python_source *ret_source);

void plim_python_source_done(struct plim_python_source *source);

bool plim_python_is(const struct plim_python_source *source, uint32_t word, const char *text);

#endif

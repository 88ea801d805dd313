/* SPDX-License-Identifier: MIT */
/* Lexical analysis as the Python Language Reference has it (chapter 2), without numbers and indentation errors. */
#include "rehearse/path/python_source.h"

#include "base/mem.h"
#include "base/system.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

struct lexer {
    struct plim_python_source *source;
    const char *text;
    size_t length, at;
    uint32_t line, depth;                   /* depth: of brackets */
    struct plim_python_statement statement; /* that is being read */
    bool is_header;                         /* it began with a word that takes a colon */
};

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

static char peek(const struct lexer *l, size_t ahead)
{
    return l->at + ahead < l->length ? l->text[l->at + ahead] : '\0';
}

static void add(struct lexer *l, enum plim_python_word_kind kind, size_t start, size_t length)
{
    struct plim_python_source *s = l->source;
    if (l->statement.n++ == 0) {
        l->statement.first = s->n_words;
        l->statement.first_line = l->line;
    }
    l->statement.last_line = l->line;
    s->word[s->n_words++] = (struct plim_python_word){ kind, (uint32_t)start, (uint32_t)length, l->line };
}

static void end_statement(struct lexer *l)
{
    if (l->statement.n)
        l->source->statement[l->source->n_statements++] = l->statement;
    l->statement.n = 0;
    l->is_header = false;
}

/* --- strings --- */

static void skip_string(struct lexer *l, bool is_formatted, unsigned nesting);

/* What is between the braces of an f-string, up to the closing one. */
static void read_field(struct lexer *l, unsigned nesting)
{
    enum { MOST = 4 };
    unsigned depth = 1;
    while (l->at < l->length && depth) {
        const char c = peek(l, 0);
        const size_t start = l->at;
        if (c == '\n')
            l->line++;
        if (is_letter(c)) {
            while (is_letter(peek(l, 0)))
                l->at++;
            add(l, PLIM_PYTHON_INSIDE, start, l->at - start);
        } else if ((c == '"' || c == '\'') && nesting < MOST) {
            skip_string(l, /* is_formatted */ false, nesting + 1);
        } else {
            if (c && strchr("()[].", c)) /* a comparison may be a part of the format: none is looked for */
                add(l, PLIM_PYTHON_SIGN, start, 1);
            depth += c == '{';
            depth -= c == '}';
            l->at++;
        }
    }
}

static void skip_string(struct lexer *l, bool is_formatted, unsigned nesting)
{
    const char quote = peek(l, 0);
    const bool is_long = peek(l, 1) == quote && peek(l, 2) == quote;
    l->at += is_long ? 3 : 1;
    while (l->at < l->length) {
        const char c = peek(l, 0);
        if (c == '\\') { /* in a raw string, too, the next quote does not end it */
            l->line += peek(l, 1) == '\n';
            l->at += 2;
        } else if (c == quote && (!is_long || (peek(l, 1) == quote && peek(l, 2) == quote))) {
            l->at += is_long ? 3 : 1;
            return;
        } else if (c == '\n' && !is_long) {
            return; /* an error: the line ends it */
        } else if (is_formatted && c == '{' && peek(l, 1) == '{') {
            l->at += 2;
        } else if (is_formatted && c == '{') {
            l->at++;
            read_field(l, nesting);
        } else {
            l->line += c == '\n';
            l->at++;
        }
    }
}

/* --- words --- */

static bool is_prefix(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr("rRbBuUfFtT", text[i]))
            return false;
    return n <= 2;
}

static bool has_letter(const char *text, size_t n, char small)
{
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)text[i]) == small)
            return true;
    return false;
}

static bool is_one_of(const char *text, size_t n, const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (strlen(words[i]) == n && !memcmp(words[i], text, n))
            return true;
    return false;
}

static void read_name(struct lexer *l)
{
    static const char *const headers[] = { "if",  "elif",  "else",   "while",   "for",   "with", "try",
                                           "def", "class", "except", "finally", "match", "case", "async" };
    const size_t start = l->at;
    while (is_letter(peek(l, 0)))
        l->at++;
    const size_t n = l->at - start;
    if ((peek(l, 0) == '"' || peek(l, 0) == '\'') && is_prefix(l->text + start, n)) {
        add(l, PLIM_PYTHON_STRING, start, n + 1);
        skip_string(l, has_letter(l->text + start, n, 'f') || has_letter(l->text + start, n, 't'), 0);
        l->statement.last_line = l->line;
        return;
    }
    if (l->statement.n == 0)
        l->is_header = is_one_of(l->text + start, n, headers, sizeof headers / sizeof *headers);
    add(l, PLIM_PYTHON_NAME, start, n);
}

static void read_sign(struct lexer *l)
{
    const char c = peek(l, 0), next = peek(l, 1);
    const bool is_double = (next == '=' && strchr("=!<>+-*/%&|^@:", c)) || (c == '-' && next == '>');
    l->depth += strchr("([{", c) != NULL;
    if (strchr(")]}", c) && l->depth)
        l->depth--;
    add(l, PLIM_PYTHON_SIGN, l->at, is_double ? 2 : 1);
    l->at += is_double ? 2 : 1;
    if (c == ':' && !is_double && l->depth == 0 && l->is_header)
        end_statement(l);
}

static void read_line_start(struct lexer *l)
{
    uint32_t indent = 0;
    for (; peek(l, 0) == ' ' || peek(l, 0) == '\t'; l->at++)
        indent = peek(l, 0) == '\t' ? (indent | 7) + 1 : indent + 1;
    l->statement.indent = indent;
}

static void read_all(struct lexer *l)
{
    read_line_start(l);
    while (l->at < l->length) {
        const char c = peek(l, 0);
        if (c == '\n') {
            l->line++;
            l->at++;
            if (l->depth == 0) {
                end_statement(l);
                read_line_start(l);
            }
        } else if (c == '\\' && peek(l, 1) == '\n') {
            l->line++;
            l->at += 2;
        } else if (c == '#') {
            while (l->at < l->length && peek(l, 0) != '\n')
                l->at++;
        } else if (is_letter(c)) {
            read_name(l);
        } else if (c == '"' || c == '\'') {
            add(l, PLIM_PYTHON_STRING, l->at, 1);
            skip_string(l, /* is_formatted */ false, 0);
            l->statement.last_line = l->line;
        } else if (c == ';' && l->depth == 0) {
            l->at++;
            end_statement(l);
        } else if (isspace((unsigned char)c) || !isprint((unsigned char)c)) {
            l->at++;
        } else {
            read_sign(l);
        }
    }
    end_statement(l);
}

/* --- a file --- */

/* The text is taken over. */
static bool take(char *text, size_t length, struct plim_python_source *ret_source)
{
    struct lexer l = { .source = ret_source, .text = text, .length = length, .line = 1 };
    *ret_source = (struct plim_python_source){ .text = text };
    ret_source->word = plim_alloc_unset(length + 1, sizeof *ret_source->word); /* a word has a character */
    ret_source->statement = plim_alloc_unset(length + 1, sizeof *ret_source->statement);
    const bool is_text = ret_source->word && ret_source->statement && !memchr(text, '\0', length);
    if (is_text)
        read_all(&l);
    else
        plim_python_source_done(ret_source);
    return is_text;
}

bool plim_python_source_of(const char *text, size_t length, struct plim_python_source *ret_source)
{
    char *copy = length <= PLIM_PYTHON_MAX_BYTES ? plim_alloc_unset(length + 1, 1) : NULL;
    *ret_source = (struct plim_python_source){ .n_words = 0 };
    if (!copy)
        return false;
    memcpy(copy, text, length);
    return take(copy, length, ret_source);
}

bool plim_python_source_open(const char *path, struct plim_python_source *ret_source)
{
    struct stat status;
    int file;
    *ret_source = (struct plim_python_source){ .n_words = 0 };
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > PLIM_PYTHON_MAX_BYTES ||
        plim_system_open(path, PLIM_OPEN_NOW, &file) != 0)
        return false;
    const size_t size = (size_t)status.st_size;
    char *text = plim_alloc_unset(size + 1, 1);
    size_t length = 0, n = 1;
    while (text && length < size && n > 0 && plim_system_read(file, text + length, size - length, &n) == 0)
        length += n;
    plim_system_close(file);
    if (text && length == size)
        return take(text, length, ret_source);
    plim_free(text);
    return false;
}

void plim_python_source_done(struct plim_python_source *source)
{
    plim_free((void *)(uintptr_t)source->text);
    plim_free(source->word);
    plim_free(source->statement);
    *source = (struct plim_python_source){ .n_words = 0 };
}

bool plim_python_is(const struct plim_python_source *source, uint32_t word, const char *text)
{
    const struct plim_python_word *w = &source->word[word];
    return word < source->n_words && strlen(text) == w->length && !memcmp(source->text + w->start, text, w->length);
}

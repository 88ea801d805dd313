/* SPDX-License-Identifier: MIT */
#include "sweep/command.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* --- {B} --- */

/* The bytes of "{NAME}" that text begins with, or of "{{NAME}}"; 0: it begins with neither. */
static size_t place_at(const char *text, size_t *ret_name_at, size_t *ret_name_length)
{
    const size_t open = text[0] != '{' ? 0 : text[1] == '{' ? 2 : 1;
    size_t end = open;
    for (; open && (text[end] == '_' || (text[end] >= 'a' && text[end] <= 'z') ||
                    (text[end] >= 'A' && text[end] <= 'Z') || (end > open && text[end] >= '0' && text[end] <= '9'));
         end++)
        ;
    *ret_name_at = open;
    *ret_name_length = end - open;
    for (size_t i = 0; i < open; i++)
        if (text[end + i] != '}')
            return 0;
    return open && end > open ? end + open : 0;
}

/* The word with values for its places; with `copy` NULL its length only. */
static size_t fill(const struct plim_sweep *sweep, const char *word, const char *const *values, char *copy)
{
    size_t length = 0;
    while (*word) {
        size_t name_at, n_name, n_text = 1;
        const char *text = word;
        const size_t n = place_at(word, &name_at, &n_name);
        if (n && name_at == 2) {
            text = word + 1;
            n_text = n - 2;
        } else if (n) {
            text = values[plim_sweep_variable(sweep, word + name_at, n_name)];
            n_text = strlen(text);
        }
        if (copy)
            memcpy(copy + length, text, n_text);
        length += n_text;
        word += n ? n : 1;
    }
    return length;
}

/* --- reading --- */

static int check_places(struct plim_sweep_scan *scan, const struct plim_sweep *sweep, size_t at, const char *word)
{
    while (*word) {
        size_t name_at, n_name;
        const size_t n = place_at(word, &name_at, &n_name);
        if (n && name_at == 1 && plim_sweep_variable(sweep, word + name_at, n_name) == sweep->n_variables)
            return plim_sweep_fail(scan, at,
                                   "variables stand above the command; {{NAME}} is written for these characters",
                                   "no variable for '%.*s'", (int)(n < 60 ? n : 60), word);
        word += n ? n : 1;
    }
    return 0;
}

/* One word into `buffer`; false: a quotation mark is not closed. */
static bool read_word(struct plim_sweep_scan *scan, char *buffer, size_t *ret_length)
{
    size_t n = 0;
    char quote = 0;
    for (; scan->at < scan->end; scan->at++) {
        const char c = scan->text[scan->at];
        if (!quote && strchr(" \t\r\n", c) && c)
            break;
        const bool is_escape = c == '\\' && quote != '\'' && scan->at + 1 < scan->end;
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else if (is_escape && (!quote || strchr("\"\\", scan->text[scan->at + 1])))
            buffer[n++] = scan->text[++scan->at];
        else
            buffer[n++] = c;
    }
    *ret_length = n;
    return !quote;
}

/* A word takes a byte at least, and a blank. */
int plim_sweep_command(struct plim_sweep_scan *scan, struct plim_sweep *sweep)
{
    const size_t most = (scan->end - scan->at) / 2 + 2;
    char *buffer = plim_arena_alloc(&sweep->arena, scan->end - scan->at + 1, 1);
    sweep->words = plim_arena_alloc(&sweep->arena, most, sizeof *sweep->words);
    if (!buffer || !sweep->words)
        return plim_sweep_fail(scan, scan->at, "write a shorter command", "the command is too long");
    for (plim_sweep_blanks(scan); scan->at < scan->end; plim_sweep_blanks(scan)) {
        const size_t at = scan->at;
        size_t length;
        if (!read_word(scan, buffer, &length))
            return plim_sweep_fail(scan, at, "words are quoted as in a shell", "no closing quotation mark");
        if (memchr(buffer, '\0', length))
            return plim_sweep_fail(scan, at, "write it without NUL bytes", "a word has a NUL byte");
        char *word = plim_arena_copy(&sweep->arena, buffer, length);
        if (!word)
            return plim_sweep_fail(scan, at, "write a shorter command", "the command is too long");
        const int result = check_places(scan, sweep, at, word);
        if (result < 0)
            return result;
        sweep->words[sweep->n_words++] = word;
    }
    if (!sweep->n_words)
        return plim_sweep_fail(scan, scan->at,
                               "write run = plimsoll rehearse --card B200 -- python train.py --batch {B}",
                               "a command is missing");
    return 0;
}

/* --- with the values of a row --- */

/* Before "--". */
static bool has_option(const struct plim_sweep *sweep, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 1; i < sweep->n_words && strcmp(sweep->words[i], "--") != 0; i++)
        if (!strncmp(sweep->words[i], name, n) && (!sweep->words[i][n] || sweep->words[i][n] == '='))
            return true;
    return false;
}

char **plim_sweep_arguments(struct plim_arena *arena, const struct plim_sweep *sweep, const char *const *values,
                            const char *self, const char *log)
{
    enum { MOST_ADDED = 3 };
    const bool is_ours = sweep->n_words > 1 && !strcmp(sweep->words[0], "plimsoll"),
               is_rehearsal = is_ours && !strcmp(sweep->words[1], "rehearse"),
               has_json = is_ours && plim_text_has_word("rehearse fit check trace", sweep->words[1]);
    char **arguments = plim_arena_alloc(arena, sweep->n_words + MOST_ADDED + 1, sizeof *arguments);
    size_t n = 0;
    for (size_t i = 0; arguments && i < sweep->n_words; i++) {
        const size_t length = fill(sweep, sweep->words[i], values, NULL);
        char *word = plim_arena_alloc(arena, length + 1, 1);
        if (!word)
            return NULL;
        fill(sweep, sweep->words[i], values, word);
        arguments[n++] = word;
        if (i == 1 && has_json && !has_option(sweep, "--json"))
            arguments[n++] = plim_arena_copy(arena, "--json", 6);
        if (i == 1 && is_rehearsal && !has_option(sweep, "--log")) {
            arguments[n++] = plim_arena_copy(arena, "--log", 5);
            arguments[n++] = plim_arena_copy(arena, log, strlen(log));
        }
    }
    if (arguments && is_ours)
        arguments[0] = plim_arena_copy(arena, self, strlen(self));
    for (size_t i = 0; arguments && i < n; i++)
        if (!arguments[i])
            return NULL;
    return arguments;
}

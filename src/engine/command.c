/* SPDX-License-Identifier: MIT */
/* Writing commands. */
#include "engine/command.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static void add(struct plim_command *command, const char *text, size_t length, const struct plim_option *option)
{
    if (command->n_words < PLIM_COMMAND_WORDS)
        command->words[command->n_words++] = (struct plim_command_word){ text, length, option };
    else
        command->is_cut = true;
}

void plim_command_add(struct plim_command *command, const char *word) { add(command, word, strlen(word), NULL); }

void plim_command_add_option(struct plim_command *command, const struct plim_option *option, const char *name,
                             size_t length, const char *value)
{
    add(command, name, length, option);
    if (value)
        plim_command_add(command, value);
}

void plim_command_note(char *list, size_t size, const char *word)
{
    char text[64];
    const size_t n = strlen(list);
    snprintf(text, sizeof text, "%.40s", word);
    if (!plim_text_has_word(list, text))
        snprintf(list + n, size - n, "%s%s", n ? " " : "", text);
}

/* --- shell words --- */

struct line {
    char *text;
    size_t n;
    bool is_cut;
};

static void put(struct line *line, const char *text, size_t length)
{
    if (line->n + length >= PLIM_COMMAND_BYTES) {
        line->is_cut = true;
        return;
    }
    memcpy(line->text + line->n, text, length);
    line->n += length;
    line->text[line->n] = '\0';
}

/* $'...': what a terminal does not show, and what has a meaning there, is written as numbers of bytes. */
static void put_escaped(struct line *line, const char *word, size_t length)
{
    uint32_t code;
    put(line, "$'", 2);
    for (size_t n; length; word += n, length -= n) {
        char text[8];
        n = plim_text_character(word, length, &code);
        if (plim_text_is_shown(code) && !strchr("\\'", word[0]))
            put(line, word, n);
        else
            for (size_t i = 0; i < n; i++)
                put(line, text, (size_t)snprintf(text, sizeof text, "\\%03o", (unsigned char)word[i]));
    }
    put(line, "'", 1);
}

static void put_quoted(struct line *line, const char *word, size_t length)
{
    put(line, "'", 1);
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\'')
            put(line, "'\\''", 4);
        else
            put(line, word + i, 1);
    put(line, "'", 1);
}

static void put_word(struct line *line, const char *word, size_t length)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    bool is_plain = length > 0, is_shown = true;
    uint32_t code;
    for (size_t at = 0; at < length && is_shown; is_shown = plim_text_is_shown(code)) {
        is_plain = is_plain && strchr(plain, word[at]);
        at += plim_text_character(word + at, length - at, &code);
    }
    if (line->n)
        put(line, " ", 1);
    if (is_plain)
        put(line, word, length);
    else if (is_shown)
        put_quoted(line, word, length);
    else
        put_escaped(line, word, length);
}

static void put_text(struct line *line, const char *word) { put_word(line, word, strlen(word)); }

/* --- the command --- */

static const struct plim_change *find_change(const struct plim_option *option, const struct plim_change *changes,
                                             unsigned n)
{
    for (unsigned i = 0; i < n && option; i++)
        if (changes[i].option == option)
            return &changes[i];
    return NULL;
}

static void put_change(struct line *line, const struct plim_change *change, const struct plim_command_word *spelling)
{
    char name[PLIM_OPTION_NAME_BYTES];
    if (spelling && change->option->help.value)
        put_word(line, spelling->text, spelling->length);
    else
        put_text(line, plim_option_name(change->option, name));
    if (change->option->help.value)
        put_text(line, change->value);
}

char *plim_command_text(const struct plim_command *command, const struct plim_change *changes, unsigned n_changes,
                        char buffer[PLIM_COMMAND_BYTES])
{
    struct line line = { buffer, 0, command->is_cut };
    unsigned done = 0; /* one bit for each change */
    buffer[0] = '\0';
    for (int i = 0; i < command->n_words; i++) {
        const struct plim_command_word *word = &command->words[i];
        const struct plim_change *change = find_change(word->option, changes, n_changes);
        if (!change) {
            put_word(&line, word->text, word->length);
            continue;
        }
        const unsigned bit = 1U << (change - changes);
        if (!(done & bit))
            put_change(&line, change, word);
        done |= bit;
        i += word->option->help.value != NULL;
    }
    for (unsigned i = 0; i < n_changes; i++)
        if (!(done & 1U << i))
            put_change(&line, &changes[i], NULL);
    return line.is_cut ? NULL : buffer;
}

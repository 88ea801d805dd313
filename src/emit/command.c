/* SPDX-License-Identifier: MIT */
#include "emit/command.h"

#include "emit/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plim_command_add(struct plim_command *command, const char *word)
{
    if (command->n_words < PLIM_COMMAND_WORDS)
        command->words[command->n_words++] = word;
}

/* --- shell words --- */

static void put(char *buffer, size_t *n, char c)
{
    if (*n + 1 < PLIM_COMMAND_BYTES) {
        buffer[(*n)++] = c;
        buffer[*n] = '\0';
    }
}

static void put_word(char *buffer, size_t *n, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (*n)
        put(buffer, n, ' ');
    if (*word && word[strspn(word, plain)] == '\0') {
        for (; *word; word++)
            put(buffer, n, *word);
        return;
    }
    put(buffer, n, '\'');
    for (; *word; word++) {
        if (*word == '\'') {
            for (const char *p = "'\\''"; *p; p++)
                put(buffer, n, *p);
        } else {
            put(buffer, n, *word);
        }
    }
    put(buffer, n, '\'');
}

/* --- llama.cpp --- */

static bool is_changed(enum plim_flag flag, const struct plim_flag_change *changes, unsigned n_changes)
{
    bool on;
    for (unsigned i = 0; i < n_changes; i++)
        if (plim_flag_named(changes[i].flag, &on) == flag)
            return true;
    return false;
}

char *plim_command_text(const struct plim_command *command, const struct plim_flag_change *changes, unsigned n_changes,
                        char buffer[PLIM_COMMAND_BYTES])
{
    size_t n = 0;
    buffer[0] = '\0';
    for (int i = 0; i < command->n_words; i++) {
        bool on;
        const char *word = command->words[i];
        enum plim_flag flag = word[0] == '-' ? plim_flag_named(word, &on) : PLIM_FLAG_NONE;
        if (flag != PLIM_FLAG_NONE && is_changed(flag, changes, n_changes)) {
            i += plim_flag_info(flag)->value != NULL;
            continue;
        }
        put_word(buffer, &n, word);
    }
    for (unsigned i = 0; i < n_changes; i++) {
        put_word(buffer, &n, changes[i].flag);
        if (!changes[i].is_switch)
            put_word(buffer, &n, changes[i].value);
    }
    return buffer;
}

/* --- Ollama --- */

static void add_text(char *buffer, const char *separator, const char *text)
{
    size_t n = strlen(buffer);
    snprintf(buffer + n, PLIM_COMMAND_BYTES - n, "%s%s", n ? separator : "", text);
}

/* What one flag is called there: a Modelfile parameter, or a variable of the server. */
static bool add_change(const struct plim_flag_change *change, unsigned n_parallel, char *parameters, char *variables)
{
    char text[96];
    bool on;
    unsigned long value = strtoul(change->value, NULL, 10);
    switch (plim_flag_named(change->flag, &on)) {
    case PLIM_FLAG_CTX_SIZE:
        snprintf(text, sizeof text, "PARAMETER num_ctx %lu", n_parallel ? value / n_parallel : value);
        break;
    case PLIM_FLAG_GPU_LAYERS:
        snprintf(text, sizeof text, "PARAMETER num_gpu %lu", value);
        break;
    case PLIM_FLAG_UBATCH_SIZE:
        snprintf(text, sizeof text, "PARAMETER num_batch %lu", value);
        break;
    case PLIM_FLAG_CACHE_TYPE_K:
        snprintf(text, sizeof text, "OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=%.16s", change->value);
        add_text(variables, " ", text);
        return true;
    case PLIM_FLAG_CACHE_TYPE_V:
        return true; /* one setting for both */
    case PLIM_FLAG_FLASH_ATTN:
        if (!strstr(variables, "OLLAMA_FLASH_ATTENTION"))
            add_text(variables, " ", "OLLAMA_FLASH_ATTENTION=1");
        return true;
    case PLIM_FLAG_PARALLEL:
        snprintf(text, sizeof text, "OLLAMA_NUM_PARALLEL=%lu", value);
        add_text(variables, " ", text);
        return true;
    default:
        return false;
    }
    add_text(parameters, "\n", text);
    return true;
}

bool plim_ollama_text(const struct plim_fix *fix, unsigned n_parallel, char buffer[PLIM_COMMAND_BYTES])
{
    char variables[PLIM_COMMAND_BYTES] = "";
    buffer[0] = '\0';
    for (unsigned i = 0; i < fix->n_changes; i++)
        if (!add_change(&fix->changes[i], n_parallel, buffer, variables))
            return false;
    if (*variables) {
        add_text(variables, " ", "ollama serve");
        add_text(buffer, "\n", variables);
    }
    return *buffer != '\0';
}

/* SPDX-License-Identifier: MIT */
/* Fixes in Ollama's words. */
#include "emit/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    case PLIM_FLAG_N_GPU_LAYERS:
        snprintf(text, sizeof text, "PARAMETER num_gpu %lu", value);
        break;
    case PLIM_FLAG_UBATCH:
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
    case PLIM_FLAG_N_PARALLEL:
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
    if (fix->setup.n_parallel)
        n_parallel = fix->setup.n_parallel; /* the fix may have changed it */
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

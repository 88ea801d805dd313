/* SPDX-License-Identifier: MIT */
/* The settings of llama.cpp under Ollama's names: parameters of a Modelfile, and variables of its server. */
#include "engine/ollama/ollama.h"

#include "base/numbers.h"
#include "base/text.h"
#include "engine/command.h"
#include "engine/llamacpp/flags/options.h"
#include "source/ollama_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ollama counts the context of one slot, llama.cpp that of all. */
static const struct word {
    const char *parameter; /* of a Modelfile; or NULL */
    const char *variable;  /* of the server; or NULL */
    enum plim_llamacpp_option option;
    bool is_per_slot;
} words[] = {
    { "num_ctx", "OLLAMA_CONTEXT_LENGTH", PLIM_LLAMACPP_CTX_SIZE, true },
    { "num_gpu", NULL, PLIM_LLAMACPP_N_GPU_LAYERS, false },
    { "num_batch", NULL, PLIM_LLAMACPP_UBATCH, false },
    { NULL, "OLLAMA_NUM_PARALLEL", PLIM_LLAMACPP_N_PARALLEL, false },
    { NULL, "OLLAMA_KV_CACHE_TYPE", PLIM_LLAMACPP_CACHE_TYPE_K, false }, /* one setting for both */
    { NULL, "OLLAMA_KV_CACHE_TYPE", PLIM_LLAMACPP_CACHE_TYPE_V, false },
    { NULL, "OLLAMA_FLASH_ATTENTION", PLIM_LLAMACPP_FLASH_ATTN, false },
};

enum { N_WORDS = sizeof words / sizeof *words, MAX_CONTEXT = 1 << 30 };

static const struct word *word_of(const struct plim_option *option)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (option == &plim_llamacpp_options[words[i].option])
            return &words[i];
    return NULL;
}

static const char *parameter_of(enum plim_llamacpp_option option)
{
    return word_of(&plim_llamacpp_options[option])->parameter;
}

/* --- reading --- */

int plim_ollama_read_variable(const char *name, const char *value, struct plim_arguments *arguments,
                              struct plim_error *reterr)
{
    bool is_ours = false;
    for (size_t i = 0; i < N_WORDS; i++)
        if (words[i].variable && !strcmp(name, words[i].variable) && *value) {
            int result = plim_option_apply(&plim_llamacpp_options[words[i].option], true, value, arguments, reterr);
            if (result < 0)
                return result;
            is_ours = true;
        }
    return is_ours ? 1 : plim_option_apply_variable(arguments->setup.type, name, value, arguments, reterr);
}

/* The context of all slots, of which each has n_ctx tokens; no more than llama.cpp's option takes. */
static uint32_t of_all_slots(uint32_t n_ctx, uint32_t n_slots)
{
    return (uint32_t)plim_min_u64((uint64_t)n_ctx * (n_slots ? n_slots : 1), MAX_CONTEXT);
}

int plim_ollama_read_command(int argc, char *const *argv, int first, struct plim_arguments *arguments,
                             struct plim_command *command, struct plim_error *reterr)
{
    struct plim_llamacpp_setup *own = &arguments->setup.llamacpp;
    bool is_run = false;
    (void)reterr;
    for (int i = first; i < argc; i++) {
        bool has_value = plim_text_has_word("--format --keepalive", argv[i]);
        if (argv[i][0] != '-' && !is_run)
            is_run = plim_text_has_word("run show", argv[i]);
        else if (argv[i][0] != '-' && !arguments->model)
            arguments->model = argv[i];
        plim_command_add(command, argv[i]);
        if (has_value && i + 1 < argc)
            plim_command_add(command, argv[++i]);
    }
    if (own->n_ctx && own->n_parallel)
        own->n_ctx = of_all_slots(own->n_ctx, own->n_parallel);
    return 0;
}

void plim_ollama_apply_stored(const struct plim_stored_model *model, struct plim_setup *setup)
{
    struct plim_llamacpp_setup *own = &setup->llamacpp;
    if (own->n_ctx == 0)
        own->n_ctx = of_all_slots(model->num_ctx, own->n_parallel);
    if (own->n_batch == 0)
        own->n_batch = model->num_batch;
    if (own->n_gpu_layers == PLIM_NGL_AUTO && model->num_gpu >= 0)
        own->n_gpu_layers = model->num_gpu;
}

/* --- writing --- */

static void add_text(char *text, size_t size, const char *separator, const char *more)
{
    const size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", n ? separator : "", more);
}

/* A quantized cache needs flash attention as well; both are variables of the server. */
static void add_variable(const struct word *word, const char *value, char *variables, size_t size)
{
    char text[96];
    const bool is_flash = word->option == PLIM_LLAMACPP_FLASH_ATTN, has_flash = strstr(variables, "FLASH_ATTENTION");
    const char *flash = word_of(&plim_llamacpp_options[PLIM_LLAMACPP_FLASH_ATTN])->variable;
    if (word->option == PLIM_LLAMACPP_CACHE_TYPE_V || (is_flash && has_flash))
        return;
    if (word->option == PLIM_LLAMACPP_CACHE_TYPE_K)
        snprintf(text, sizeof text, "%s=1 %s=%.16s", flash, word->variable, value);
    else
        snprintf(text, sizeof text, "%s=%.16s", word->variable, is_flash ? "1" : value);
    add_text(variables, size, " ", text);
}

static bool add_change(const struct plim_change *change, uint32_t n_slots, char *text, size_t size, char *variables,
                       size_t variables_size)
{
    const struct word *word = word_of(change->option);
    char line[96];
    if (!word)
        return false;
    if (!word->parameter) {
        add_variable(word, change->value, variables, variables_size);
        return true;
    }
    const unsigned long value = strtoul(change->value, NULL, 10);
    snprintf(line, sizeof line, "PARAMETER %s %lu", word->parameter,
             word->is_per_slot && n_slots ? value / n_slots : value);
    add_text(text, size, "\n", line);
    return true;
}

bool plim_ollama_paste(const struct plim_fix *fix, const struct plim_bill *before, char *text, size_t size)
{
    char variables[256] = "";
    uint32_t n_slots = (uint32_t)plim_bill_setting_integer(before, plim_llamacpp_options[PLIM_LLAMACPP_N_PARALLEL].key);
    if (fix->setup.llamacpp.n_parallel)
        n_slots = fix->setup.llamacpp.n_parallel; /* the fix may have changed it */
    text[0] = '\0';
    for (unsigned i = 0; i < fix->n_changes; i++)
        if (!add_change(&fix->changes[i], n_slots, text, size, variables, sizeof variables))
            return false;
    if (*variables) {
        add_text(variables, sizeof variables, " ", "ollama serve");
        add_text(text, size, "\n", variables);
    }
    return *text != '\0';
}

void plim_ollama_write_flags(const struct plim_llamacpp_setup *before, const struct plim_llamacpp_setup *after,
                             uint32_t n_ctx, char *text, size_t size)
{
    char part[48];
    text[0] = '\0';
    if (after->n_ctx && after->n_ctx != n_ctx) {
        snprintf(part, sizeof part, "%s %u", parameter_of(PLIM_LLAMACPP_CTX_SIZE), after->n_ctx);
        add_text(text, size, " ", part);
    }
    if (after->n_gpu_layers != before->n_gpu_layers) {
        snprintf(part, sizeof part, "%s %u", parameter_of(PLIM_LLAMACPP_N_GPU_LAYERS), (unsigned)after->n_gpu_layers);
        add_text(text, size, " ", part);
    }
}

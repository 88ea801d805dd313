/* SPDX-License-Identifier: MIT */
/* Ollama's row in the table of runtimes: llama.cpp's functions, with Ollama's defaults filled in before. */
#include "engine/llamacpp/engine.h"
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"
#include "engine/llamacpp/shapes.h"
#include "engine/ollama/ollama.h"

#include <string.h>

static void adopt(struct plim_setup *setup) { setup->llamacpp.client = PLIM_CLIENT_RUNNER; }

static void init(struct plim_setup *setup)
{
    plim_llamacpp_init(setup);
    adopt(setup);
}

static struct plim_setup with_defaults(const struct plim_engine *engine, const struct plim_setup *setup,
                                       const struct plim_machine *machine)
{
    struct plim_setup filled = *setup;
    struct plim_model_shape shape;
    plim_llamacpp_shape(engine, &shape);
    adopt(&filled);
    plim_ollama_defaults(machine, shape.n_ctx_train, &filled.llamacpp);
    return filled;
}

/*
 * Models that Ollama has published have tokens without a row in the embedding (Gemma 3) or another width in a key
 * (LFM2); it mends both when it loads them (llama/compat of Ollama).
 */
static int open_model(const struct plim_model *model, const char *version, struct plim_engine **ret_engine,
                      struct plim_error *reterr)
{
    int result = plim_llamacpp_open(model, version, ret_engine, reterr);
    if (result < 0)
        return result;
    struct plim_llamacpp *engine = (struct plim_llamacpp *)*ret_engine;
    plim_llama_find_contradiction(engine->llama, true, engine->contradiction);
    return 0;
}

static int bill(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                struct plim_bill *ret_bill, struct plim_error *reterr)
{
    const struct plim_setup filled = with_defaults(engine, setup, machine);
    const int result = plim_llamacpp_bill(engine, &filled, machine, ret_bill, reterr);
    for (uint32_t i = 0; i < ret_bill->n_settings; i++)
        if (ret_bill->settings[i].option == &plim_llamacpp_options[PLIM_LLAMACPP_CTX_SIZE])
            ret_bill->settings[i].is_default = setup->llamacpp.n_ctx == 0;
    return result;
}

static int adjust(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                  const struct plim_bill *before, struct plim_adjustment *ret_adjustment, struct plim_error *reterr)
{
    const struct plim_setup filled = with_defaults(engine, setup, machine);
    const int result = plim_llamacpp_adjust(engine, &filled, machine, before, ret_adjustment, reterr);
    if (result > 0)
        plim_ollama_write_flags(&setup->llamacpp, &ret_adjustment->setup.llamacpp,
                                (uint32_t)plim_bill_setting_integer(before, "n_ctx"), ret_adjustment->flags,
                                sizeof ret_adjustment->flags);
    return result;
}

static const char *client(const struct plim_setup *setup)
{
    (void)setup;
    return "Ollama";
}

/* Its settings are pasted, not written as flags of a program. */
static const char *program(const struct plim_setup *setup)
{
    (void)setup;
    return NULL;
}

static int find_program(const char *name, const char *next, struct plim_setup *setup)
{
    (void)next;
    if (strcmp(name, "ollama") != 0)
        return 0;
    adopt(setup);
    return 1;
}

const struct plim_engine_type plim_ollama_type = {
    .name = "ollama",
    .rules = "llama.cpp",
    .heading = "llama.cpp's flags",
    .proven_from = PLIM_EPOCH_PROVEN_FROM,
    .proven_to = PLIM_EPOCH_PROVEN_TO,
    .compared = plim_epoch_compared,
    .tasks = PLIM_TASK_INFER,
    .has_quant_recipes = true,
    .options = plim_llamacpp_options,
    .n_options = PLIM_LLAMACPP_MAX_OPTIONS,
    .variable_prefix = "LLAMA_ARG_",
    .init = init,
    .adopt = adopt,
    .cards_use = plim_llamacpp_cards_use,
    .select_cards = plim_llamacpp_select_cards,
    .wants_file = plim_llamacpp_wants_file,
    .attach = plim_llamacpp_attach,
    .open = open_model,
    .close = plim_llamacpp_close,
    .knows_model = plim_llamacpp_knows_model,
    .contradiction = plim_llamacpp_contradiction,
    .shape = plim_llamacpp_shape,
    .bill = bill,
    .adjust = adjust,
    .levers = plim_llamacpp_levers,
    .pairs = plim_llamacpp_pairs,
    .growth = &plim_llamacpp_growth,
    .write_changes = plim_llamacpp_write_changes,
    .paste = plim_ollama_paste,
    .paste_quant = plim_llamacpp_paste_quant,
    .client = client,
    .program = program,
    .describe = plim_llamacpp_describe,
    .find_program = find_program,
    .read_variable = plim_ollama_read_variable,
    .read_command = plim_ollama_read_command,
    .apply_stored = plim_ollama_apply_stored,
};

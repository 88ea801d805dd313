/* SPDX-License-Identifier: MIT */
/* llama.cpp's row in the table of runtimes. */
#include "engine/llamacpp/engine.h"
#include "engine/llamacpp/flags/flags.h"
#include "engine/llamacpp/flags/options.h"

void plim_llamacpp_init(struct plim_setup *setup)
{
    setup->llamacpp.n_gpu_layers = setup->llamacpp.n_gpu_layers_draft = PLIM_NGL_AUTO;
    setup->llamacpp.cache_ram_mib = PLIM_CACHE_RAM_DEFAULT;
}

static void adopt(struct plim_setup *setup)
{
    if (setup->llamacpp.client == PLIM_CLIENT_RUNNER)
        setup->llamacpp.client = PLIM_CLIENT_SERVER;
}

const struct plim_engine_type plim_llamacpp_type = {
    .name = "llama.cpp",
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
    .init = plim_llamacpp_init,
    .adopt = adopt,
    .cards_use = plim_llamacpp_cards_use,
    .select_cards = plim_llamacpp_select_cards,
    .wants_file = plim_llamacpp_wants_file,
    .attach = plim_llamacpp_attach,
    .open = plim_llamacpp_open,
    .close = plim_llamacpp_close,
    .knows_model = plim_llamacpp_knows_model,
    .contradiction = plim_llamacpp_contradiction,
    .shape = plim_llamacpp_shape,
    .bill = plim_llamacpp_bill,
    .adjust = plim_llamacpp_adjust,
    .levers = plim_llamacpp_levers,
    .pairs = plim_llamacpp_pairs,
    .growth = &plim_llamacpp_growth,
    .write_changes = plim_llamacpp_write_changes,
    .paste_quant = plim_llamacpp_paste_quant,
    .client = plim_llamacpp_client,
    .program = plim_llamacpp_program,
    .describe = plim_llamacpp_describe,
    .find_program = plim_llamacpp_find_program,
    .read_variable = plim_llamacpp_read_variable,
    .read_command = plim_llamacpp_read_command,
};

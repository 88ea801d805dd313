/* SPDX-License-Identifier: MIT */
#include "cli/answer.h"

#include <string.h>

/* Ollama's store has names of its own; what lies there is run by Ollama unless the question says otherwise. */
static bool is_of_ollama(const struct plim_path *path)
{
    return path->ollama || strstr(path->text, "/blobs/sha256-") != NULL;
}

/* The Modelfile's parameters count where no flag does. */
static void apply_modelfile(const struct plim_ollama_model *model, struct plim_setup *setup)
{
    if (setup->n_ctx == 0)
        setup->n_ctx = model->num_ctx * (setup->n_parallel ? setup->n_parallel : 1);
    if (setup->n_batch == 0)
        setup->n_batch = model->num_batch;
    if (setup->n_gpu_layers == PLIM_NGL_AUTO && model->num_gpu >= 0)
        setup->n_gpu_layers = model->num_gpu;
}

static void make_setup(const struct plim_fit_options *options, const struct plim_path *path, struct plim_setup *setup)
{
    *setup = options->arguments.setup;
    if (options->has_client || (options->has_command && setup->client != PLIM_CLIENT_OLLAMA) || !is_of_ollama(path))
        return;
    setup->client = PLIM_CLIENT_OLLAMA;
    if (path->ollama)
        apply_modelfile(path->ollama, setup);
}

static bool names_model(const struct plim_command *command)
{
    for (int i = 0; i < command->n_words; i++)
        if (command->words[i].flag == PLIM_FLAG_MODEL)
            return true;
    return false;
}

/* The command that the fixes change: the one given, or the shortest that says the same. */
static void write_command(const struct plim_fit_options *options, const struct plim_path *path, enum plim_client client,
                          struct plim_command *command)
{
    static const char *const programs[PLIM_CLIENT_MAX_] = { "llama-server", "llama-cli", NULL, NULL };
    const struct plim_command *given = &options->command;
    if (options->has_command) {
        *command = *given;
        if (!names_model(given))
            plim_command_add_flag(command, PLIM_FLAG_MODEL, "-m", 2, path->text);
        return;
    }
    memset(command, 0, sizeof *command);
    command->is_flags_only = programs[client] == NULL;
    if (programs[client]) {
        plim_command_add(command, programs[client]);
        plim_command_add_flag(command, PLIM_FLAG_MODEL, "-m", 2, path->text);
    }
    for (int i = 0; i < given->n_words; i++)
        if (given->words[i].flag == PLIM_FLAG_MODEL)
            i++;
        else
            command->words[command->n_words++] = given->words[i];
}

int plim_answer_make(const struct plim_fit_options *options, const struct plim_path *path,
                     const struct plim_notes *notes, bool has_fixes, struct plim_engine *engine,
                     struct plim_result *ret_result, struct plim_error *reterr)
{
    struct plim_result *r = ret_result;
    const struct plim_margin *margin = &options->margin;
    struct plim_answer *answer = &r->answer;
    make_setup(options, path, &r->setup);
    *answer = (struct plim_answer){ .engine = engine,
                                    .setup = &r->setup,
                                    .machine = &r->machine,
                                    .bill = &r->bill,
                                    .margin = *margin,
                                    .fixes = r->fixes,
                                    .command = &r->command,
                                    .is_for_ollama = r->setup.client == PLIM_CLIENT_OLLAMA };
    for (unsigned i = 0; i < notes->n && i < PLIM_REPORT_MAX_NOTES; i++)
        answer->notes[answer->n_notes++] = notes->text[i];
    write_command(options, path, r->setup.client, &r->command);
    int result = plim_engine_bill(engine, &r->setup, &r->machine, margin, &r->bill, reterr);
    if (result == 0)
        result = plim_engine_autofit(engine, &r->setup, &r->machine, &r->starts_with, reterr);
    if (result > 0) {
        answer->starts_with = &r->starts_with;
        answer->starts_with_bill = &r->starts_with_bill;
        result = plim_engine_bill(engine, &r->starts_with, &r->machine, margin, &r->starts_with_bill, reterr);
    }
    if (result == 0 && has_fixes)
        result = plim_plan_fixes(engine, &r->setup, &r->machine, margin, &r->bill, r->fixes, PLIM_MAX_FIXES,
                                 &answer->n_fixes, reterr);
    return result;
}

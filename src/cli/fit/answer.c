/* SPDX-License-Identifier: MIT */
#include "cli/fit/answer.h"

#include "engine/type.h"
#include "plimsoll/model.h"

#include <stdio.h>
#include <string.h>

int plim_answer_engine_type(const struct plim_fit_options *options, const struct plim_model *model,
                            const struct plim_engine_type **ret_type, struct plim_error *reterr)
{
    const struct plim_engine_type *own = plim_engine_type_of_kind(plim_model_kind(model));
    const struct plim_engine_type *given = options->arguments.setup.type;
    *ret_type = own && !options->has_engine && !options->client ? own : given;
    if (*ret_type == given || (!options->has_command && !options->command.n_words))
        return 0;
    const int code =
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "options of %s are given, and %s answers for '%.60s'",
                  given->rules, own->rules, plim_model_name(model));
    plim_error_hint(reterr, "'plimsoll fit --help' lists the options of both");
    return code;
}

/*
 * A model of a runtime's store is run by that runtime, unless --engine, --client or the program of a command names
 * another; the parameters kept with the model apply where no flag does.
 */
static int make_setup(const struct plim_fit_options *options, const struct plim_path *path,
                      const struct plim_engine *engine, struct plim_setup *setup, struct plim_error *reterr)
{
    const struct plim_engine_type *type;
    *setup = options->arguments.setup;
    if (strcmp(setup->type->rules, engine->type->rules) != 0)
        plim_setup_change_type(setup, engine->type);
    if (options->client || !path->store)
        return 0;
    int result = plim_engine_type_named(path->store, &type, NULL, reterr);
    if (result < 0)
        return result;
    if (options->has_command && setup->type != type)
        return 0;
    plim_setup_change_type(setup, type);
    if (path->stored && type->apply_stored)
        type->apply_stored(path->stored, setup);
    return 0;
}

static bool names_model(const struct plim_command *command)
{
    for (int i = 0; i < command->n_words; i++)
        if (command->words[i].option && command->words[i].option->kind == PLIM_OPTION_MODEL)
            return true;
    return false;
}

/* "ORG/REPO:QUANT" of a name of the hub, NULL for a URL and for a file of a repository. */
static const char *hub_name(const struct plim_path *path)
{
    if (strncmp(path->given, "hf:", 3) != 0)
        return NULL;
    const char *name = path->given + (strncmp(path->given + 3, "//", 2) ? 3 : 5), *slash = strchr(name, '/');
    return slash && !strchr(slash + 1, '/') ? name : NULL;
}

/* -hf for a model of the hub, which brings its projector; -mu for a file at an address (llama.cpp: common/arg.cpp). */
static void add_remote_model(struct plim_command *command, const struct plim_path *path)
{
    const char *name = hub_name(path);
    plim_command_add(command, name ? "-hf" : "-mu");
    plim_command_add(command, name ? name : path->text);
    if (name || !path->projector)
        return;
    plim_command_add(command, "-mmu");
    plim_command_add(command, path->projector);
}

static void add_model(struct plim_command *command, const struct plim_engine_type *type, const char *path)
{
    for (size_t i = 0; i < type->n_options; i++) {
        const struct plim_option *option = &type->options[i];
        if (option->kind != PLIM_OPTION_MODEL)
            continue;
        plim_command_add_option(command, option, option->help.names, strcspn(option->help.names, " "), path);
        return;
    }
}

/*
 * A model that no file holds yet, as a runtime takes no name of the catalogue and no other quantization: its file is
 * called so where it is published.
 */
static void name_file_to_be(const struct plim_model *model, char *file, size_t size)
{
    const char *type = plim_model_file_type(model);
    file[0] = '\0';
    if (*plim_model_path(model) || !type)
        return;
    snprintf(file, size, "%s-%s.gguf", plim_model_name(model), type);
    for (char *blank = file; (blank = strchr(blank, ' '));)
        *blank = '-';
}

static void add_path(struct plim_command *command, const struct plim_engine_type *type, const struct plim_path *path,
                     const char *file)
{
    if (path->remote)
        add_remote_model(command, path);
    else
        add_model(command, type, *file ? file : path->text);
    if (path->projector && !path->remote && !path->stored) {
        plim_command_add(command, "--mmproj");
        plim_command_add(command, path->projector);
    }
}

/* The command that the fixes change: the given one, or the shortest of the same meaning. */
static void write_command(const struct plim_fit_options *options, const struct plim_path *path, const char *file,
                          const struct plim_setup *setup, struct plim_command *command)
{
    const struct plim_command *given = &options->command;
    const char *program = setup->type->program(setup);
    if (options->has_command) {
        *command = *given;
        if (!names_model(given) && !options->arguments.is_on_server)
            add_path(command, setup->type, path, file);
        return;
    }
    memset(command, 0, sizeof *command);
    command->is_flags_only = program == NULL;
    command->is_cut = given->is_cut;
    if (program) {
        plim_command_add(command, program);
        add_path(command, setup->type, path, file);
    }
    for (int i = 0; i < given->n_words; i++)
        if (given->words[i].option && given->words[i].option->kind == PLIM_OPTION_MODEL)
            i++;
        else if (command->n_words < PLIM_COMMAND_WORDS)
            command->words[command->n_words++] = given->words[i];
        else
            command->is_cut = true;
}

/* Who holds the memory that is missing: asked for once, and only where it matters and can be known. */
static void find_holders(struct plim_result *r)
{
    const struct plim_device_bill *device = &r->bill.device[r->bill.limiting_device];
    const bool is_missing = r->bill.verdict == PLIM_VERDICT_NO || r->bill.verdict == PLIM_VERDICT_TIGHT;
    if (!is_missing || device->is_host || !r->machine.card[device->index].is_live ||
        r->machine.card[device->index].others_bytes == 0)
        return;
    if (!r->has_looked)
        plim_cli_find_holders(&r->machine, &r->holders);
    r->has_looked = true;
    r->machine.holders = r->holders.item;
    r->machine.n_holders = r->holders.n;
}

static int add_fixes(const struct plim_margin *margin, struct plim_engine *engine, struct plim_result *r,
                     struct plim_error *reterr)
{
    struct plim_answer *answer = &r->answer;
    find_holders(r);
    int result = plim_plan_fixes(engine, &r->setup, &r->machine, margin, &r->bill, r->fixes, PLIM_MAX_FIXES,
                                 &answer->n_fixes, reterr);
    if (result == 0 && r->machine.n_holders)
        result = plim_plan_alone(engine, &r->setup, &r->machine, margin, &r->bill, &answer->verdict_alone, reterr);
    return result == 0 ? plim_plan_room(engine, &r->setup, &r->machine, margin, &r->bill, &r->room, reterr) : result;
}

/* What the bill says already is not said again. */
static void note_doubts(const struct plim_bill *bill, const struct plim_course *course, struct plim_answer *answer)
{
    for (uint32_t i = 0; i < course->n_doubts && answer->n_notes < PLIM_REPORT_MAX_NOTES; i++)
        if (!bill->caveat || strcmp(bill->caveat, course->doubts[i].text) != 0)
            answer->notes[answer->n_notes++] = course->doubts[i].text;
}

int plim_answer_make(const struct plim_fit_options *options, const struct plim_path *path,
                     const struct plim_notes *notes, bool has_fixes, struct plim_engine *engine,
                     struct plim_result *ret_result, struct plim_error *reterr)
{
    struct plim_result *r = ret_result;
    const struct plim_margin *margin = &options->margin;
    struct plim_answer *answer = &r->answer;
    int result = make_setup(options, path, engine, &r->setup, reterr);
    if (result == 0 && r->setup.type->settle)
        result = r->setup.type->settle(engine, &r->setup, &r->machine, reterr);
    if (result < 0)
        return result;
    r->room = (struct plim_room){ 0 };
    *answer = (struct plim_answer){ .path = path,
                                    .engine = engine,
                                    .setup = &r->setup,
                                    .machine = &r->machine,
                                    .bill = &r->bill,
                                    .margin = *margin,
                                    .fixes = r->fixes,
                                    .room = &r->room,
                                    .command = &r->command };
    for (unsigned i = 0; i < notes->n && answer->n_notes < PLIM_REPORT_MAX_NOTES; i++)
        answer->notes[answer->n_notes++] = notes->text[i];
    name_file_to_be(plim_engine_model(engine), r->file, sizeof r->file);
    write_command(options, path, r->file, &r->setup, &r->command);
    result = plim_engine_bill(engine, &r->setup, &r->machine, margin, &r->bill, reterr);
    if (result < 0 || r->bill.is_contradicted) /* the runtime would not load the file, whatever is changed */
        return result;
    if (r->setup.type->course) {
        answer->course = &r->course;
        result = r->setup.type->course(engine, &r->setup, &r->machine, &r->bill, &r->course, reterr);
        if (result < 0)
            return result;
        note_doubts(&r->bill, &r->course, answer);
    }
    result = plim_engine_adjust(engine, &r->setup, &r->machine, &r->bill, &r->adjustment, reterr);
    if (result > 0) {
        answer->adjustment = &r->adjustment;
        answer->adjusted_bill = &r->adjusted_bill;
        result = plim_engine_bill(engine, &r->adjustment.setup, &r->machine, margin, &r->adjusted_bill, reterr);
    }
    return result == 0 && has_fixes ? add_fixes(margin, engine, r, reterr) : result;
}

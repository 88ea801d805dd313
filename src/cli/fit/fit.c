/* SPDX-License-Identifier: MIT */
/* plimsoll fit: will a model run on a card; the bill, the verdict and what to change first. */
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/fit/answer.h"
#include "cli/fit/held.h"
#include "cli/fit/machine.h"
#include "cli/fit/quantizations.h"
#include "cli/fit/quants.h"
#include "cli/fit/sources.h"
#include "cli/fit/subject.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "engine/aux_files.h"
#include "engine/type.h"
#include "report/print.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The question, read from the command line; and the progress of the answer. */
struct question {
    struct plim_fit_options options;
    struct plim_paths paths;
    struct plim_aux_files files;
    struct plim_machine machine;
    struct plim_notes notes;
    struct plim_style style;
    struct plim_progress progress;
    struct plim_cli_sources sources;
    bool is_ladder;  /* no card: one answer for each of the common sizes */
    bool has_models; /* several models in one table */
    size_t n_answers, n_models, n_yes;
    struct plim_quantizations quantizations; /* of several models on one machine */
    bool has_table;                          /* all quantizations of one model */
    char recommended[16];                    /* the one to take */
    int argc;
    char **argv;
};

static int status_of(const struct question *q, enum plim_verdict verdict)
{
    bool is_yes = verdict == PLIM_VERDICT_FITS || (verdict == PLIM_VERDICT_TIGHT && !q->options.is_strict);
    return is_yes ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

static int fail(struct question *q, const struct plim_error *error)
{
    plim_progress_clear(&q->progress);
    plim_progress_clear(&q->sources.progress);
    return plim_cli_fail(error);
}

/* --- one model, and one card of each size --- */

struct ladder {
    enum plim_verdict verdicts[PLIM_LADDER_STEPS];
    char names[PLIM_LADDER_STEPS][sizeof((struct plim_card *)0)->name];
};

static const char *first_name(const struct ladder *ladder, enum plim_verdict verdict)
{
    for (int i = 0; i < PLIM_LADDER_STEPS; i++)
        if (ladder->verdicts[i] == verdict)
            return ladder->names[i];
    return "";
}

static void report_step(struct question *q, const struct plim_answer *answer, unsigned step)
{
    if (q->options.is_json) {
        plim_report_json(stdout, answer, true, q->n_answers++);
        return;
    }
    if (q->has_models)
        return;
    if (step == 0)
        plim_report_cards_head(stdout, answer, &q->style);
    plim_report_cards_row(stdout, answer, &q->style);
}

static void report_ladder(const struct question *q, const struct ladder *ladder, const struct plim_answer *answer)
{
    if (q->options.is_json)
        return;
    if (q->has_models) {
        const char *names[PLIM_LADDER_STEPS];
        for (int i = 0; i < PLIM_LADDER_STEPS; i++)
            names[i] = ladder->names[i];
        if (q->n_models == 0)
            plim_report_grid_head(stdout, names, PLIM_LADDER_STEPS, &q->style);
        plim_report_grid_row(stdout, answer, ladder->verdicts, PLIM_LADDER_STEPS, &q->style);
        return;
    }
    if (answer->bill->is_contradicted) {
        plim_print(stdout, "\n");
        plim_report_verdict(stdout, answer, &q->style);
        return;
    }
    const char *fits = first_name(ladder, PLIM_VERDICT_FITS), *tight = first_name(ladder, PLIM_VERDICT_TIGHT);
    plim_report_cards_end(stdout, *tight ? tight : fits, *tight ? PLIM_VERDICT_TIGHT : PLIM_VERDICT_FITS, fits,
                          &q->style);
}

static int answer_ladder(struct question *q, const struct plim_path *path, struct plim_engine *engine,
                         struct plim_result *r, struct plim_error *err)
{
    struct ladder ladder;
    int status = PLIM_EXIT_NO;
    for (unsigned step = 0; step < PLIM_LADDER_STEPS; step++) {
        r->machine = q->machine;
        plim_cli_ladder_card(step, &r->machine.card[0]);
        int result = plim_answer_make(&q->options, path, &q->notes, false, engine, r, err);
        if (result < 0)
            return result;
        ladder.verdicts[step] = r->bill.verdict;
        memcpy(ladder.names[step], r->machine.card[0].name, sizeof ladder.names[step]);
        if (status_of(q, r->bill.verdict) == PLIM_EXIT_YES)
            status = PLIM_EXIT_YES;
        report_step(q, &r->answer, step);
    }
    report_ladder(q, &ladder, &r->answer);
    return status;
}

/* --- one model --- */

static void report(struct question *q, const struct plim_answer *answer)
{
    plim_progress_clear(&q->progress);
    if (q->options.is_json)
        plim_report_json(stdout, answer, q->has_models, q->n_answers++);
    else if (!q->has_models)
        plim_report_fit_text(stdout, answer, &q->style);
    else {
        if (q->n_models == 0)
            plim_report_models_head(stdout, answer, &q->style);
        plim_report_models_row(stdout, answer, &q->style);
    }
}

static bool runs_by_itself(const struct plim_model *model)
{
    return plim_model_kind(model) != PLIM_MODEL_PROJECTOR && plim_model_kind(model) != PLIM_MODEL_ADAPTER;
}

/* Returns an exit status, or an error. */
static int answer_engine(struct question *q, const struct plim_path *path, struct plim_engine *engine,
                         struct plim_result *r, struct plim_error *err)
{
    int status;
    if (q->is_ladder) {
        status = answer_ladder(q, path, engine, r, err);
    } else {
        r->machine = q->machine;
        int result = plim_answer_make(&q->options, path, &q->notes, true, engine, r, err);
        if (result < 0)
            return result;
        report(q, &r->answer);
        status = status_of(q, r->bill.verdict);
    }
    if (status < 0)
        return status;
    q->n_models++;
    q->n_yes += status == PLIM_EXIT_YES;
    if (!q->is_ladder)
        plim_quantizations_add(&q->quantizations, plim_engine_model(engine), path->text, status == PLIM_EXIT_YES);
    return status;
}

/* The notes of the question, and those on where its model comes from. */
static void join_notes(const struct plim_notes *first, const struct plim_notes *second, struct plim_notes *ret_notes)
{
    *ret_notes = *first;
    for (unsigned i = 0; i < second->n; i++)
        plim_note(ret_notes, "%s", second->text[i]);
}

static int answer_table(struct question *q, const struct plim_path *path, const struct plim_subject *subject,
                        struct plim_error *err)
{
    const struct plim_quants_question question = {
        .options = &q->options,
        .setup = &q->options.arguments.setup,
        .model = subject->model,
        .machine = &q->machine,
        .notes = &q->notes,
        .style = &q->style,
        .argc = q->argc,
        .argv = q->argv,
        .n_answers = &q->n_answers,
    };
    plim_progress_clear(&q->progress);
    if (q->has_models) {
        int code =
            plim_fail(err, PLIM_E_USAGE, PLIM_NO_OFFSET, "several models, and no quantization of %.80s", path->text);
        plim_error_hint(err, "--quant Q4_K_M takes one of each; the table of all is for one model");
        return code;
    }
    q->has_table = true;
    return q->is_ladder ? plim_quants_answer_ladder(&question, err)
                        : plim_quants_answer(&question, q->recommended, err);
}

static int answer_subject(struct question *q, const struct plim_path *path, const struct plim_subject *subject,
                          struct plim_result *r, struct plim_error *err)
{
    const struct plim_notes before = q->notes;
    const struct plim_engine_type *type;
    struct plim_engine *engine = NULL;
    int result;
    join_notes(&before, &subject->notes, &q->notes);
    if (!q->has_models && subject->model == subject->given)
        plim_note_forecast_held(subject->model, q->options.is_verbose || q->options.is_json, &q->notes);
    if (subject->is_table) {
        result = answer_table(q, path, subject, err);
    } else {
        result = plim_answer_engine_type(&q->options, subject->model, &type, err);
        if (result == 0)
            result = plim_engine_new(subject->model, type, q->options.version, &engine, err);
        if (result == 0)
            result = answer_engine(q, path, engine, r, err);
    }
    q->notes = before;
    plim_engine_free(engine);
    return result;
}

static int answer_model(struct question *q, const struct plim_path *path, struct plim_result *r)
{
    struct plim_error err = { 0 };
    struct plim_subject subject;
    int result = plim_subject_open(&subject, path, q->options.quant, &err);
    plim_progress_clear(&q->sources.progress);
    if (result == 0 && path->is_found && !runs_by_itself(subject.model))
        goto out;
    if (result == 0)
        result = answer_subject(q, path, &subject, r, &err);
    if (result < 0) {
        if (result != PLIM_E_USAGE) /* not about this file */
            plim_error_where(&err, path->text);
        result = fail(q, &err);
    }
out:
    plim_subject_done(&subject);
    return result;
}

/* --- all of them --- */

static void report_end(struct question *q)
{
    const struct plim_paths *paths = &q->paths;
    const char *largest = plim_quantizations_largest(&q->quantizations);
    plim_progress_clear(&q->progress);
    const struct plim_list_end end = {
        .largest = largest,
        .recommended = q->has_table ? q->recommended : NULL,
        .n_models_left_out = paths->n_left_out,
        .n_entries_left_out = paths->n_entries_left_out,
    };
    if (q->options.is_json && (q->has_models || q->is_ladder || q->has_table))
        plim_report_json_end(stdout, q->n_answers, &end);
    else if (q->options.is_json || !q->has_models)
        return;
    else if (q->n_models && q->is_ladder)
        plim_report_grid_end(stdout);
    else if (q->n_models)
        plim_report_models_end(stdout, q->n_yes, q->n_models, largest, &q->style);
    if (!q->options.is_json)
        plim_report_left_out(stdout, paths->n_left_out, paths->n_entries_left_out);
}

static int answer_all(struct question *q)
{
    int worst = PLIM_EXIT_YES;
    struct plim_result *r = plim_alloc(1, sizeof *r);
    if (!r)
        return PLIM_EXIT_INTERNAL;
    plim_progress_begin(&q->progress);
    for (size_t i = 0; i < q->paths.n; i++) {
        plim_progress_step(&q->progress, i, q->paths.n, q->paths.paths[i].text);
        int status = answer_model(q, &q->paths.paths[i], r);
        worst = status > worst ? status : worst;
        if (status == PLIM_EXIT_USAGE)
            break; /* an invalid question is invalid for the other models too */
    }
    report_end(q);
    plim_free(r);
    return plim_cli_flush() ? worst : PLIM_EXIT_INTERNAL;
}

/* --- the question --- */

static int no_model(const struct plim_fit_options *options, struct plim_error *err)
{
    int code = plim_fail(err, PLIM_E_USAGE, PLIM_NO_OFFSET, "no model given");
    plim_error_hint(
        err, options->has_command
                 ? "add the model's file to the command, or its name on a hub"
                 : "plimsoll fit Qwen3-8B --card 'RTX 4060'; a file, a folder or hf:ORG/REPO is a model as well");
    return code;
}

static void note_flags(struct question *q)
{
    const struct plim_fit_options *o = &q->options;
    if (o->command.unknown[0])
        plim_note(&q->notes, "unknown, ignored: %s", o->command.unknown);
    if (o->command.uncounted[0])
        plim_note(&q->notes, "memory effect not counted: %s", o->command.uncounted);
    if (o->command.variables[0])
        plim_note(&q->notes, "applied from this environment: %s", o->command.variables);
}

/* Make the question ready; forget() frees it. */
static int ask(struct question *q, int argc, char **argv, struct plim_error *err)
{
    struct plim_fit_options *o = &q->options;
    q->argc = argc;
    q->argv = argv;
    int result = plim_fit_options_parse(argc, argv, o, err);
    if (result < 0 || o->is_help)
        return result;
    if (o->n_paths == 0)
        return no_model(o, err);
    q->style =
        (struct plim_style){ .has_colour = plim_cli_has_colour(STDOUT_FILENO, o->color), .is_verbose = o->is_verbose };
    note_flags(q);
    result = plim_cli_machine(o, &q->machine, &q->notes, err);
    if (result < 0)
        return result;
    q->is_ladder = result > 0;
    result = plim_cli_sources_open(o->paths, (size_t)o->n_paths, o->is_offline, &q->sources, err);
    if (result == 0)
        result = plim_paths_expand(o->paths, (size_t)o->n_paths, &q->sources.roots, &q->paths, err);
    if (result < 0) {
        plim_cli_sources_hint(o->paths, (size_t)o->n_paths, err);
        return result;
    }
    q->has_models = q->paths.n > 1 || q->paths.has_directory;
    struct plim_path *only = q->paths.n == 1 ? &q->paths.paths[0] : NULL;
    if (only && only->projector)
        result = plim_aux_files_add(&o->arguments, PLIM_MODEL_PROJECTOR, only->projector, err);
    if (result == 0)
        result = plim_aux_files_open(&o->arguments, plim_cli_sources_files(&q->sources), &q->files, err);
    for (uint32_t i = 0; i < q->files.n && only && only->projector; i++)
        only->has_projector |= !strcmp(plim_model_path(q->files.model[i]), only->projector);
    return result;
}

static void forget(struct question *q)
{
    plim_aux_files_done(&q->files);
    plim_paths_done(&q->paths);
    plim_cli_sources_done(&q->sources);
    plim_fit_options_done(&q->options);
    plim_free(q);
}

static int run(int argc, char **argv)
{
    struct plim_error err = { 0 };
    int status = PLIM_EXIT_YES;
    struct question *q = plim_alloc(1, sizeof *q);
    if (!q)
        return PLIM_EXIT_INTERNAL;
    if (ask(q, argc, argv, &err) < 0)
        status = fail(q, &err);
    else if (q->options.is_help)
        status = plim_help_command(stdout, &plim_cli_fit);
    else
        status = answer_all(q);
    forget(q);
    return status;
}

/* Its own, then those of each set of rules. */
static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    const struct plim_engine_type *type, *last = NULL;
    int n = 1;
    ret_groups[0] = (struct plim_cli_options){ "Options", plim_fit_option_info(PLIM_FIT_NONE + 1), PLIM_FIT_MAX_ - 1,
                                               sizeof(struct plim_option_help) };
    for (size_t i = 0; n < PLIM_CLI_MAX_GROUPS && (type = plim_engine_type_at(i)); i++) {
        if (!last || strcmp(type->heading, last->heading) != 0)
            ret_groups[n++] = (struct plim_cli_options){ type->heading, &type->options[0].help, type->n_options,
                                                         sizeof(struct plim_option) };
        last = type;
    }
}

const struct plim_cli_command plim_cli_fit = {
    .name = "fit",
    .arguments = "[OPTIONS] MODEL...  or  plimsoll fit [OPTIONS] -- COMMAND...",
    .summary = "will it run: the bill, the verdict, and what to change first",
    .examples = "  plimsoll fit model.gguf --card 'RTX 4060' --ctx-size 32768\n"
                "  plimsoll fit -- llama-server -m model.gguf -c 32768 -ngl 99 -ctk q8_0\n"
                "  plimsoll fit models/ --budget 7.5GiB\n",
    .run = run,
    .options = list_options,
};

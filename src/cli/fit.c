/* SPDX-License-Identifier: MIT */
/* plimsoll fit: will a model run on a card; the bill, the verdict and what to change first. */
#include "base/mem.h"
#include "cli/beside.h"
#include "cli/cli.h"
#include "cli/fit_options.h"
#include "cli/help.h"
#include "cli/machine.h"
#include "cli/paths.h"
#include "report/report.h"

#include <string.h>
#include <unistd.h>

/* The question: what the command line says, made ready. */
struct question {
    struct plim_fit_options options;
    struct plim_paths paths;
    struct plim_beside beside;
    struct plim_machine machine;
    struct plim_notes notes;
    struct plim_style style;
    bool is_ladder; /* no card: one row for each of the common sizes */
    bool is_list;   /* several answers */
};

/* One model on one machine, and all its answer points to. */
struct result {
    struct plim_setup setup, starts_with;
    struct plim_machine machine;
    struct plim_bill bill, starts_with_bill;
    struct plim_fix fixes[PLIM_MAX_FIXES];
    struct plim_command command;
    struct plim_answer answer;
};

/* --- one answer --- */

/* Ollama's store has names of its own; what lies there is run by Ollama unless the question says otherwise. */
static bool is_of_ollama(const char *path) { return strstr(path, "/blobs/sha256-") != NULL; }

/* The command that the fixes change: the one given, or the shortest that says the same. */
static void write_command(const struct question *q, const char *path, struct plim_command *command)
{
    static const char *const programs[PLIM_CLIENT_MAX_] = { "llama-server", "llama-cli", "llama-server", "ollama" };
    if (q->options.has_command) {
        *command = q->options.command;
        return;
    }
    command->n_words = 0;
    plim_command_add(command, programs[q->options.arguments.setup.client]);
    plim_command_add(command, "-m");
    plim_command_add(command, path);
    for (int i = 0; i < q->options.command.n_words; i++)
        plim_command_add(command, q->options.command.words[i]);
}

static void add_notes(const struct question *q, struct plim_answer *answer)
{
    for (unsigned i = 0; i < q->notes.n; i++)
        answer->notes[answer->n_notes++] = q->notes.text[i];
}

static int make_answer(const struct question *q, struct plim_engine *engine, struct result *r, struct plim_error *err)
{
    const struct plim_margin *margin = &q->options.margin;
    const char *path = plim_model_path(plim_engine_model(engine));
    struct plim_answer *answer = &r->answer;
    r->setup = q->options.arguments.setup;
    if (is_of_ollama(path) && !q->options.has_client && !q->options.has_command)
        r->setup.client = PLIM_CLIENT_OLLAMA;
    *answer = (struct plim_answer){ .engine = engine,
                                    .setup = &r->setup,
                                    .machine = &r->machine,
                                    .bill = &r->bill,
                                    .margin = *margin,
                                    .fixes = r->fixes,
                                    .command = &r->command,
                                    .is_for_ollama = r->setup.client == PLIM_CLIENT_OLLAMA };
    int result = plim_engine_bill(engine, &r->setup, &r->machine, margin, &r->bill, err);
    if (result == 0)
        result = plim_engine_starts_with(engine, &r->setup, &r->machine, &r->starts_with, err);
    if (result > 0) {
        answer->starts_with = &r->starts_with;
        answer->starts_with_bill = &r->starts_with_bill;
        result = plim_engine_bill(engine, &r->starts_with, &r->machine, margin, &r->starts_with_bill, err);
    }
    if (result == 0 && !q->is_ladder)
        result = plim_plan_fixes(engine, &r->setup, &r->machine, margin, &r->bill, r->fixes, PLIM_MAX_FIXES,
                                 &answer->n_fixes, err);
    write_command(q, path, &r->command);
    add_notes(q, answer);
    return result;
}

static int status_of(const struct question *q, enum plim_verdict verdict)
{
    bool is_yes = verdict == PLIM_VERDICT_FITS || (verdict == PLIM_VERDICT_TIGHT && !q->options.is_strict);
    return is_yes ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

/* --- one model --- */

static void report(const struct question *q, const struct plim_answer *answer, size_t nth)
{
    const struct plim_style *style = &q->style;
    if (q->options.is_json)
        plim_report_json(stdout, answer, q->is_list, nth);
    else if (!q->is_list)
        plim_report_fit_text(stdout, answer, style);
    else
        plim_report_row(stdout, answer, q->is_ladder, nth, style);
}

static int answer_ladder(const struct question *q, struct plim_engine *engine, struct result *r, size_t *n_answers,
                         struct plim_error *err)
{
    int status = PLIM_EXIT_NO;
    char smallest[sizeof r->machine.card[0].name] = "";
    for (unsigned step = 0; step < PLIM_LADDER_STEPS; step++) {
        r->machine = q->machine;
        plim_cli_ladder_card(step, &r->machine.card[0]);
        r->machine.n_cards = 1;
        if (make_answer(q, engine, r, err) < 0)
            return plim_cli_fail(err);
        if (step == 0 && !q->options.is_json)
            plim_report_head(stdout, &r->answer, &q->style);
        report(q, &r->answer, q->options.is_json ? (*n_answers)++ : step);
        if (status != PLIM_EXIT_YES && status_of(q, r->bill.verdict) == PLIM_EXIT_YES) {
            status = PLIM_EXIT_YES;
            memcpy(smallest, r->machine.card[0].name, sizeof smallest);
        }
    }
    if (!q->options.is_json)
        plim_report_ladder_end(stdout, smallest, &q->style);
    return status;
}

static int answer_model(const struct question *q, const struct plim_path *path, struct result *r, size_t *n_answers)
{
    struct plim_error err = { 0 };
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    int status = PLIM_EXIT_YES;
    int result = plim_model_open(path->text, &model, &err);
    bool runs_by_itself =
        result == 0 && plim_model_kind(model) != PLIM_MODEL_PROJECTOR && plim_model_kind(model) != PLIM_MODEL_ADAPTER;
    if (path->is_found && result == 0 && !runs_by_itself)
        goto out;
    if (result == 0)
        result = plim_engine_new(model, q->options.engine, &engine, &err);
    if (result == 0 && q->is_ladder) {
        status = answer_ladder(q, engine, r, n_answers, &err);
        goto out;
    }
    r->machine = q->machine;
    if (result == 0)
        result = make_answer(q, engine, r, &err);
    if (result < 0) {
        plim_error_where(&err, path->text);
        status = plim_cli_fail(&err);
        goto out;
    }
    report(q, &r->answer, (*n_answers)++);
    status = status_of(q, r->bill.verdict);
out:
    plim_engine_free(engine);
    plim_model_free(model);
    return status;
}

/* --- all of them --- */

static int answer_all(const struct question *q)
{
    size_t n_answers = 0;
    int worst = PLIM_EXIT_YES;
    struct result *r = plim_alloc(1, sizeof *r);
    if (!r)
        return PLIM_EXIT_INTERNAL;
    for (size_t i = 0; i < q->paths.n; i++) {
        int status = answer_model(q, &q->paths.paths[i], r, &n_answers);
        worst = status > worst ? status : worst;
    }
    if (q->options.is_json && q->is_list)
        plim_report_json_end(stdout, n_answers);
    plim_free(r);
    return plim_cli_flush() ? worst : PLIM_EXIT_INTERNAL;
}

/* Make the question ready; what it holds is freed by forget(). */
static int ask(struct question *q, int argc, char **argv, struct plim_error *err)
{
    struct plim_fit_options *o = &q->options;
    int result = plim_fit_options_parse(argc, argv, o, err);
    if (result < 0 || o->is_help)
        return result;
    if (o->n_paths == 0) {
        result = plim_fail(err, PLIM_E_USAGE, PLIM_NO_OFFSET, "no model is named");
        plim_error_hint(err, "plimsoll fit MODEL.gguf --card 'RTX 4060'");
        return result;
    }
    q->style = (struct plim_style){ plim_cli_has_colour(STDOUT_FILENO, o->color), o->is_verbose };
    if (o->arguments.unknown[0])
        plim_note(&q->notes, "not known and ignored: %s", o->arguments.unknown);
    result = plim_cli_machine(o, &q->machine, &q->notes, err);
    if (result < 0)
        return result;
    q->is_ladder = result > 0;
    result = plim_paths_expand(o->paths, (size_t)o->n_paths, &q->paths, err);
    q->is_list = q->is_ladder || q->paths.n > 1 || q->paths.has_directory;
    return result < 0 ? result : plim_beside_open(&o->arguments, &o->arguments.setup, &q->beside, err);
}

static void forget(struct question *q)
{
    plim_beside_done(&q->beside);
    plim_paths_done(&q->paths);
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
        status = plim_cli_fail(&err);
    else if (q->options.is_help)
        plim_help_command(stdout, &plim_cli_fit);
    else
        status = answer_all(q);
    forget(q);
    return status;
}

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", plim_fit_option_info(PLIM_FIT_NONE + 1), PLIM_FIT_MAX_ - 1 };
    ret_groups[1] =
        (struct plim_cli_options){ "llama.cpp's flags", plim_flag_info(PLIM_FLAG_NONE + 1), PLIM_FLAG_MAX_ - 1 };
}

const struct plim_cli_command plim_cli_fit = {
    .name = "fit",
    .arguments = "[OPTIONS] MODEL...  or  plimsoll fit [OPTIONS] -- COMMAND...",
    .summary = "will it run: the bill, the verdict, and what to change first",
    .examples = "  plimsoll fit Llama-3.1-8B-Instruct-Q4_K_M.gguf --card 'RTX 4060' --ctx-size 32768\n"
                "  plimsoll fit -- llama-server -m model.gguf -c 32768 -ngl 99 -ctk q8_0\n"
                "  plimsoll fit models/ --budget 7.5GiB\n",
    .run = run,
    .options = list_options,
};

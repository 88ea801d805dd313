/* SPDX-License-Identifier: MIT */
/* plimsoll hollow: the same model with a hole where the weights are. */
#include "emit/hollow.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/libraries.h"
#include "report/report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum option { OPTION_OUT, OPTION_PYTHON, OPTION_FORCE, OPTION_JSON, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_OUT] = { "-o --output", "", "OUT", "output folder, or output file for a model of one file" },
    [OPTION_PYTHON] = { "--python", "", "PYTHON",
                        "an interpreter that has PyTorch and transformers: its transformers makes the model of a "
                        "config.json, of any architecture that it knows" },
    [OPTION_FORCE] = { "--force", "", NULL, "replace existing files" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.hollow/1)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

struct arguments {
    const char *model, *out, *python;
    bool may_replace, is_json, is_help;
};

static int usage(const char *what, const char *name)
{
    return plim_cli_usage("'plimsoll hollow --help' lists the options", what, name);
}

static int parse(int argc, char **argv, struct arguments *a)
{
    bool is_over = false; /* "--": only names follow */
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const bool is_name = is_over || word[0] != '-' || !word[1];
        const char *value;
        if (is_name && a->model)
            return usage("one model at a time, not also '%s'", word);
        if (is_name)
            a->model = word;
        else if (!strcmp(word, "--"))
            is_over = true;
        else if ((value = plim_cli_value(argc, argv, &i, rows[OPTION_OUT].names)))
            a->out = value;
        else if ((value = plim_cli_value(argc, argv, &i, rows[OPTION_PYTHON].names)))
            a->python = value;
        else if (plim_text_has_word("-o --output --python", word))
            return usage("%s needs a value", word);
        else if (plim_text_has_word(rows[OPTION_FORCE].names, word))
            a->may_replace = true;
        else if (plim_text_has_word(rows[OPTION_JSON].names, word))
            a->is_json = true;
        else if (plim_text_has_word(rows[OPTION_HELP].names, word))
            a->is_help = true;
        else
            return plim_help_unknown_option(&plim_cli_hollow, word);
    }
    if (a->is_help)
        return PLIM_EXIT_YES;
    if (!a->model)
        return plim_cli_usage("plimsoll hollow MODEL -o OUT", "no model given");
    if (!a->out || !*a->out)
        return plim_cli_usage("plimsoll hollow MODEL -o OUT", "-o needs a folder or a file name to write to");
    if (a->python && !*a->python)
        return plim_cli_usage("plimsoll hollow config.json --python python3 -o OUT", "--python needs an interpreter");
    return PLIM_EXIT_YES;
}

/* --- signals: unfinished files are removed, then the signal has its usual effect --- */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static volatile sig_atomic_t stop_signal;

static void on_signal(int number) { stop_signal = number; }

static bool is_stopped(void) { return stop_signal != 0; }

static void catch_signals(void)
{
    struct sigaction before, action = { .sa_handler = on_signal };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* as nohup wants it */
            sigaction(ends[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* exceeding a limit on file size is an error like others */
}

static void pass_signal_on(void)
{
    if (stop_signal) {
        signal(stop_signal, SIG_DFL);
        raise(stop_signal);
    }
}

/* --- */

static int run(int argc, char **argv)
{
    struct arguments a = { 0 };
    struct plim_error err = { 0 };
    struct plim_hollow hollow;
    int status = parse(argc, argv, &a);
    if (status != PLIM_EXIT_YES)
        return status;
    if (a.is_help)
        return plim_help_command(stdout, &plim_cli_hollow);
    catch_signals();
    char libraries[PLIM_LIBRARIES_PATH];
    const struct plim_hollow_python python = { a.python, plim_libraries_find(libraries) ? libraries : "" };
    int result = plim_hollow_plan(a.model, a.out, a.python ? &python : NULL, &hollow, &err);
    if (result < 0)
        plim_error_where(&err, a.model);
    else
        result = plim_hollow_write(&hollow, a.may_replace, is_stopped, &err);
    if (result < 0)
        status = plim_cli_fail(&err);
    else if (a.is_json)
        plim_report_hollow_json(stdout, &hollow);
    else
        plim_report_hollow_text(stdout, &hollow);
    plim_hollow_done(&hollow);
    if (result < 0)
        pass_signal_on();
    return result < 0 ? status : plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}

const struct plim_cli_command plim_cli_hollow = {
    .name = "hollow",
    .arguments = "[OPTIONS] MODEL -o OUT",
    .summary = "the same model without its weights: real headers, sparse files",
    .examples = "  plimsoll hollow model.gguf -o hollow/\n"
                "  plimsoll hollow Llama-3.1-8B/config.json -o hollow/\n"
                "  plimsoll hollow Qwen2.5-VL-7B/config.json --python .venv/bin/python -o hollow/\n",
    .run = run,
    .options = list_options,
};

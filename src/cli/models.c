/* SPDX-License-Identifier: MIT */
/* plimsoll models: the catalogue of models. */
#include "report/models/models.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum option { OPTION_JSON, OPTION_COLOR, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.models/1)" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

struct arguments {
    char query[256];
    const char *color;
    bool is_json, is_help;
};

static int parse(int argc, char **argv, struct arguments *a)
{
    for (int i = 1; i < argc; i++) {
        const size_t n = strlen(a->query);
        const char *value;
        if (argv[i][0] != '-')
            snprintf(a->query + n, sizeof a->query - n, "%s%s", n ? " " : "", argv[i]);
        else if (plim_text_has_word(rows[OPTION_JSON].names, argv[i]))
            a->is_json = true;
        else if (plim_text_has_word(rows[OPTION_HELP].names, argv[i]))
            a->is_help = true;
        else if ((value = plim_cli_value(argc, argv, &i, rows[OPTION_COLOR].names)))
            a->color = value;
        else
            return plim_help_unknown_option(&plim_cli_models, argv[i]);
    }
    if (a->color && !plim_text_has_word("auto always never", a->color))
        return plim_cli_usage("expected auto, always or never", "invalid value '%s' for --color", a->color);
    return PLIM_EXIT_YES;
}

/* The models that are meant: one when the query is its name, those that have all its words, or what a look-up finds. */
static size_t choose(const char *query, size_t *chosen, struct plim_error *reterr)
{
    struct plim_catalogue_answer answer = { 0 };
    struct plim_error error = { 0 };
    size_t n = 0;
    const bool is_found = *query && plim_catalogue_model_find(query, &answer, &error) == 0;
    if (is_found && answer.is_exact && (!answer.tag || strchr(query, ':'))) {
        chosen[0] = answer.model;
        return 1;
    }
    for (size_t i = 0; i < plim_catalogue_model_count(); i++)
        if (plim_catalogue_model_matches(i, query))
            chosen[n++] = i;
    if (n)
        return n;
    if (is_found)
        chosen[n++] = answer.model;
    for (size_t k = 0; answer.outcome == PLIM_CATALOGUE_AMBIGUOUS && k < answer.n_others; k++)
        chosen[n++] = answer.others[k];
    if (n == 0)
        *reterr = error;
    return n;
}

static int print_json(const size_t *chosen, size_t n, struct plim_error *reterr)
{
    json_t *models = json_array();
    for (size_t i = 0; i < n; i++) {
        struct plim_model_summary summary;
        int result = plim_model_summarize(chosen[i], n > 1, &summary, reterr);
        if (result < 0) {
            json_decref(models);
            return result;
        }
        json_array_append_new(models, plim_report_model_json(&summary));
    }
    if (!plim_report_models_json(stdout, models) && !ferror(stdout)) /* an error of stdout is told at the end */
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    return 0;
}

static int print_text(const size_t *chosen, size_t n, const struct plim_style *style, struct plim_error *reterr)
{
    struct plim_model_summary summary;
    int result = 0;
    if (n > 1)
        plim_report_models_table_head(stdout, style);
    for (size_t i = 0; i < n && result == 0; i++) {
        result = plim_model_summarize(chosen[i], n > 1, &summary, reterr);
        if (result == 0 && n > 1)
            plim_report_models_table_row(stdout, &summary);
        else if (result == 0)
            plim_report_model_text(stdout, &summary, style);
    }
    if (result == 0 && n > 1)
        plim_report_models_table_end(stdout, n);
    return result;
}

static int run(int argc, char **argv)
{
    struct arguments a = { 0 };
    struct plim_error error = { 0 };
    int status = parse(argc, argv, &a);
    if (status != PLIM_EXIT_YES)
        return status;
    if (a.is_help)
        return plim_help_command(stdout, &plim_cli_models);
    size_t *chosen = plim_alloc(plim_catalogue_model_count(), sizeof *chosen);
    if (!chosen)
        return PLIM_EXIT_INTERNAL;
    const size_t n = choose(a.query, chosen, &error);
    const struct plim_style style = { .has_colour = plim_cli_has_colour(STDOUT_FILENO, a.color) };
    int result = 0;
    if (a.is_json)
        result = print_json(chosen, n, &error);
    else if (n)
        result = print_text(chosen, n, &style, &error);
    else
        plim_cli_fail(&error);
    plim_free(chosen);
    if (result < 0)
        return plim_cli_fail(&error);
    return !plim_cli_flush() ? PLIM_EXIT_INTERNAL : n ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

const struct plim_cli_command plim_cli_models = {
    .name = "models",
    .arguments = "[OPTIONS] [QUERY]",
    .summary = "catalogue of models: parameters, context, sizes as GGUF",
    .examples = "  plimsoll models qwen3\n"
                "  plimsoll models Qwen3-14B\n",
    .run = run,
    .options = list_options,
};

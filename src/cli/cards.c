/* SPDX-License-Identifier: MIT */
/* plimsoll cards: the catalogue, and the cards of this machine. */
#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "plimsoll/card.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum option { OPTION_JSON, OPTION_COLOR, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.cards/1)" },
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

static int usage(const char *name) { return plim_help_unknown_option(&plim_cli_cards, name); }

static int parse(int argc, char **argv, struct arguments *a)
{
    for (int i = 1; i < argc; i++) {
        size_t n = strlen(a->query);
        if (argv[i][0] != '-')
            snprintf(a->query + n, sizeof a->query - n, "%s%s", n ? " " : "", argv[i]);
        else if (plim_text_has_word(rows[OPTION_JSON].names, argv[i]))
            a->is_json = true;
        else if (plim_text_has_word(rows[OPTION_HELP].names, argv[i]))
            a->is_help = true;
        else if (!strcmp(argv[i], "--color") && i + 1 < argc)
            a->color = argv[++i];
        else if (!strncmp(argv[i], "--color=", 8))
            a->color = argv[i] + 8;
        else
            return usage(argv[i]);
    }
    if (a->color && !plim_text_has_word("auto always never", a->color))
        return plim_cli_usage("expected auto, always or never", "invalid value '%s' for --color", a->color);
    return PLIM_EXIT_YES;
}

/* The look-up by name lists near misses. */
static void found_none(const char *query)
{
    struct plim_card card;
    struct plim_error error = { 0 };
    if (plim_catalogue_find(query, &card, &error) < 0)
        plim_cli_fail(&error);
}

static int run(int argc, char **argv)
{
    struct arguments a = { 0 };
    int status = parse(argc, argv, &a);
    if (status != PLIM_EXIT_YES)
        return status;
    if (a.is_help)
        return plim_help_command(stdout, &plim_cli_cards);
    size_t n = 0, *found = plim_alloc(plim_catalogue_size(), sizeof *found);
    if (!found)
        return PLIM_EXIT_INTERNAL;
    for (size_t i = 0; i < plim_catalogue_size(); i++)
        if (plim_catalogue_matches(i, a.query))
            found[n++] = i;
    if (n == 0 && !a.is_json)
        found_none(a.query);
    struct plim_style style = { .has_colour = plim_cli_has_colour(STDOUT_FILENO, a.color) };
    if (a.is_json)
        plim_report_catalogue_json(stdout, found, n);
    else if (n)
        plim_report_catalogue_text(stdout, found, n, &style);
    plim_free(found);
    return !plim_cli_flush() ? PLIM_EXIT_INTERNAL : n ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

const struct plim_cli_command plim_cli_cards = {
    .name = "cards",
    .arguments = "[OPTIONS] [QUERY]",
    .summary = "catalogue of cards: memory, bandwidth, compute capability",
    .examples = "  plimsoll cards 4060\n"
                "  plimsoll cards --json 'RTX 6000'\n",
    .run = run,
    .options = list_options,
};

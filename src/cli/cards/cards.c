/* SPDX-License-Identifier: MIT */
/* plimsoll cards: the catalogue; which cards carry a model; two cards side by side. */
#include "report/cards/cards.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cards/question.h"
#include "cli/cli.h"
#include "cli/help.h"

#include <string.h>
#include <unistd.h>

enum option {
    OPTION_FOR,
    OPTION_QUANT,
    OPTION_COMPARE,
    OPTION_PRICES,
    OPTION_ALL,
    OPTION_JSON,
    OPTION_COLOR,
    OPTION_HELP,
    N_OPTIONS
};

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_FOR] = { "--for", "", "MODEL",
                     "the cards, and pairs of cards, that carry a model: a file or a name, as for fit, whose options "
                     "(-c, --backend ...) apply" },
    [OPTION_QUANT] = { "--quant", "", "NAME",
                       "the quantization of that model (default: Q4_K_M, where its name has none)" },
    [OPTION_COMPARE] = { "--compare", "", NULL, "two cards side by side, with the best of a few models on each" },
    [OPTION_PRICES] = { "--prices", "", "FILE.csv", "prices to buy and to rent: the columns card, buy and per_hour" },
    [OPTION_ALL] = { "--all", "", NULL, "with --for: all cards, not the smallest alone" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.cards/1)" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

/* --- the command line --- */

struct arguments {
    const char *model, *prices;
    bool is_compare, is_all, is_help;
    char **rest; /* words for fit's options, "cards" in front */
    int n_rest;
};

static enum option option_named(const char *word, size_t length)
{
    char name[32];
    if (length >= sizeof name)
        return N_OPTIONS;
    memcpy(name, word, length);
    name[length] = '\0';
    int option = 0;
    while (option < N_OPTIONS && !plim_text_has_word(rows[option].names, name))
        option++;
    return (enum option)option;
}

/* The options that fit has as well go on to it, with their values. */
static bool is_of_fit(enum option option)
{
    return option == N_OPTIONS || option == OPTION_QUANT || option == OPTION_JSON || option == OPTION_COLOR;
}

static int take(struct arguments *a, int argc, char **argv, int *i, struct plim_error *reterr)
{
    const char *word = argv[*i], *equals = strncmp(word, "--", 2) ? NULL : strchr(word, '=');
    const enum option option = option_named(word, equals ? (size_t)(equals - word) : strlen(word));
    const char *value = equals ? equals + 1 : NULL;
    if (is_of_fit(option)) {
        a->rest[a->n_rest++] = argv[*i];
        return 0;
    }
    if (rows[option].value && !value) {
        if (*i + 1 >= argc)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s needs a value: %s", word, rows[option].value);
        value = argv[++*i];
    }
    a->model = option == OPTION_FOR ? value : a->model;
    a->prices = option == OPTION_PRICES ? value : a->prices;
    a->is_compare = a->is_compare || option == OPTION_COMPARE;
    a->is_all = a->is_all || option == OPTION_ALL;
    a->is_help = a->is_help || option == OPTION_HELP;
    return 0;
}

/* Without a model the options of fit mean nothing here. Returns 0, an exit status after a message, or an error. */
static int check(const struct arguments *a, struct plim_error *reterr)
{
    const bool has_model = a->model || a->is_compare;
    for (int i = 1; i < a->n_rest && !has_model; i++) {
        const char *word = a->rest[i];
        if (word[0] == '-' && word[1] && option_named(word, strcspn(word, "=")) == N_OPTIONS)
            return plim_help_unknown_option(&plim_cli_cards, word);
    }
    if (a->prices && !has_model)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--prices goes with --for or --compare");
    return 0;
}

static int parse(int argc, char **argv, struct arguments *a, struct plim_error *reterr)
{
    int result = 0;
    a->rest = plim_alloc((size_t)argc + 1, sizeof *a->rest);
    if (!a->rest)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    a->rest[a->n_rest++] = argv[0];
    for (int i = 1; i < argc && result == 0; i++)
        result = take(a, argc, argv, &i, reterr);
    return result == 0 && !a->is_help ? check(a, reterr) : result;
}

/* --- the catalogue --- */

/* The look-up by name lists near misses. */
static void found_none(const char *query)
{
    struct plim_card card;
    struct plim_error error = { 0 };
    if (plim_catalogue_find(query, &card, &error) < 0)
        plim_cli_fail(&error);
}

static int list(const struct plim_cards_question *q, struct plim_error *reterr)
{
    char query[256] = "";
    size_t n = 0, *found = plim_alloc(plim_catalogue_size(), sizeof *found);
    if (!found)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (int i = 0; i < q->options.n_paths; i++) {
        const size_t length = strlen(query);
        snprintf(query + length, sizeof query - length, "%s%s", length ? " " : "", q->options.paths[i]);
    }
    for (size_t i = 0; i < plim_catalogue_size(); i++)
        if (plim_catalogue_matches(i, query))
            found[n++] = i;
    if (q->options.is_json)
        plim_report_catalogue_json(stdout, found, n);
    else if (n)
        plim_report_catalogue_text(stdout, found, n, &q->style);
    else
        found_none(query);
    plim_free(found);
    return n ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

/* --- the question --- */

static int answer(const struct arguments *a, struct plim_cards_question *q, struct plim_error *reterr)
{
    int result = plim_fit_options_parse(a->n_rest, a->rest, &q->options, reterr);
    if (result >= 0 && a->prices)
        result = plim_prices_open(a->prices, &q->prices, reterr);
    if (result < 0)
        return result;
    q->model = a->model;
    q->is_all = a->is_all;
    q->style = (struct plim_style){ .has_colour = plim_cli_has_colour(STDOUT_FILENO, q->options.color) };
    if (a->is_compare)
        return plim_cards_compare(q, reterr);
    return a->model ? plim_cards_for_model(q, reterr) : list(q, reterr);
}

static int run(int argc, char **argv)
{
    struct plim_error error = { 0 };
    struct arguments a = { .n_rest = 0 };
    int status = PLIM_EXIT_INTERNAL;
    struct plim_cards_question *q = plim_alloc(1, sizeof *q);
    if (!q)
        return status;
    int result = parse(argc, argv, &a, &error);
    if (result == 0 && a.is_help)
        status = plim_help_command(stdout, &plim_cli_cards);
    else if (result == 0)
        result = answer(&a, q, &error);
    if (result < 0)
        status = plim_cli_fail(&error);
    else if (!a.is_help)
        status = plim_cli_flush() ? result : PLIM_EXIT_INTERNAL;
    plim_prices_done(&q->prices);
    plim_fit_options_done(&q->options);
    plim_free(a.rest);
    plim_free(q);
    return status;
}

const struct plim_cli_command plim_cli_cards = {
    .name = "cards",
    .arguments = "[OPTIONS] [QUERY]",
    .summary = "catalogue of cards; which carry a model; two side by side",
    .examples = "  plimsoll cards 4060\n"
                "  plimsoll cards --for Qwen3-32B -c 16384 geforce\n"
                "  plimsoll cards --compare 'RTX 3090' 'RTX 5070 Ti'\n",
    .run = run,
    .options = list_options,
};

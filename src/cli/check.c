/* SPDX-License-Identifier: MIT */
/* plimsoll check: a bill beside a receipt or an engine's log. */
#include "report/receipt/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/check_input.h"
#include "cli/cli.h"
#include "cli/help.h"

#include <string.h>
#include <unistd.h>

enum option { OPTION_RECEIPT_FROM, OPTION_JSON, OPTION_COLOR, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_RECEIPT_FROM] = { "--receipt-from", "", "LOG", "print the allocations in this log; no bill is needed" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.check/1; a receipt: plimsoll.receipt/1)" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

struct arguments {
    const char *bill, *receipt, *color;
    bool is_receipt_only, is_json, is_help;
    char **rest; /* the options of fit, behind "fit" and the model; owned */
    int n_rest;
};

static int usage(const char *format, const char *text)
{
    return plim_cli_usage("plimsoll check BILL.json LOG, or plimsoll check MODEL.gguf LOG with the options of 'fit'",
                          format, text);
}

/* An option of check; *i moves over its value. 0: none of them. -1: its value is missing. */
static int take_own(int argc, char **argv, int *i, struct arguments *a)
{
    const char *word = argv[*i], *value;
    if (plim_text_has_word(rows[OPTION_JSON].names, word)) {
        a->is_json = true;
    } else if (plim_text_has_word(rows[OPTION_HELP].names, word)) {
        a->is_help = true;
    } else if ((value = plim_cli_value(argc, argv, i, rows[OPTION_COLOR].names))) {
        a->color = value;
    } else if ((value = plim_cli_value(argc, argv, i, rows[OPTION_RECEIPT_FROM].names))) {
        a->receipt = value;
        a->is_receipt_only = true;
    } else {
        return plim_text_has_word("--color --receipt-from", word) ? -1 : 0;
    }
    return 1;
}

/* BILL and RECEIPT come first; what follows belongs to fit. */
static int parse(int argc, char **argv, struct arguments *a)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int own = take_own(argc, argv, &i, a);
        if (own < 0)
            return usage("%s needs a value", word);
        if (own > 0)
            continue;
        const bool is_path = (word[0] != '-' || !word[1]) && a->n_rest == 2;
        if (is_path && !a->bill)
            a->bill = word;
        else if (is_path && !a->receipt)
            a->receipt = word;
        else
            a->rest[a->n_rest++] = argv[i];
    }
    if (a->color && !plim_text_has_word("auto always never", a->color))
        return plim_cli_usage("write auto, always or never",
                              "invalid value '%s' for --color: expected auto, always or never", a->color);
    if (a->is_help)
        return PLIM_EXIT_YES;
    if (a->is_receipt_only && (a->bill || a->n_rest > 2))
        return usage("--receipt-from takes a log and nothing else: '%s'", a->bill ? a->bill : a->rest[2]);
    if (!a->is_receipt_only && (!a->bill || !a->receipt))
        return usage("%s", "two files are needed: a bill or a model, and a receipt or a log");
    if (a->bill && a->receipt && !strcmp(a->bill, "-") && !strcmp(a->receipt, "-"))
        return usage("%s", "only one of the two files can be standard input");
    return PLIM_EXIT_YES;
}

/* --- both sides --- */

struct sides {
    struct plim_receipt bill, receipt;
    struct plim_check check;
};

static int wrong_side(struct plim_error *err, const char *what, const char *path)
{
    int code = plim_fail(err, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s", what);
    plim_error_hint(err, "plimsoll check BILL RECEIPT: the bill comes first");
    plim_error_where(err, path);
    return code;
}

static int read_bill(struct arguments *a, struct sides *s, struct plim_error *err)
{
    const bool is_model = strcmp(a->bill, "-") != 0 && plim_check_is_model(a->bill);
    if (is_model) {
        a->rest[1] = (char *)(uintptr_t)a->bill;
        return plim_check_bill(a->n_rest, a->rest, &s->receipt, &s->bill, err);
    }
    if (a->n_rest > 2) {
        plim_fail(err, PLIM_E_USAGE, PLIM_NO_OFFSET, "'%.60s' has no effect on a written bill", a->rest[2]);
        plim_error_hint(err, "fit's options go with a model: plimsoll check MODEL.gguf LOG %.100s", a->rest[2]);
        return PLIM_E_USAGE;
    }
    int result = plim_check_read(a->bill, &s->bill, err);
    return result == 0 && strcmp(s->bill.from, "bill") != 0 ? wrong_side(err, "this is not a bill", a->bill) : result;
}

static int read_both(struct arguments *a, struct sides *s, struct plim_error *err)
{
    int result = plim_check_read(a->receipt, &s->receipt, err);
    if (result == 0 && !strcmp(s->receipt.from, "bill"))
        result = wrong_side(err, "this is a bill, not a receipt", a->receipt);
    if (result == 0 && a->bill)
        result = read_bill(a, s, err);
    return result;
}

static int answer(struct arguments *a, struct sides *s)
{
    const struct plim_style style = { .has_colour = plim_cli_has_colour(STDOUT_FILENO, a->color) };
    const struct plim_check_sides sides = { &s->bill, &s->receipt, &s->check };
    struct plim_error err = { 0 };
    bool is_written = true, is_yes = true;
    if (read_both(a, s, &err) < 0)
        return plim_cli_fail(&err);
    if (!a->is_receipt_only) {
        plim_check(&s->bill, &s->receipt, &s->check);
        is_yes = s->check.agrees;
    }
    if (a->is_json)
        is_written =
            a->is_receipt_only ? plim_report_receipt_json(stdout, &s->receipt) : plim_report_check_json(stdout, &sides);
    else if (a->is_receipt_only)
        plim_report_receipt_text(stdout, &s->receipt, &style);
    else
        plim_report_check_text(stdout, &sides, &style);
    return !plim_cli_flush() || !is_written ? PLIM_EXIT_INTERNAL : is_yes ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

static int run(int argc, char **argv)
{
    struct arguments a = { .n_rest = 2 };
    struct sides *sides = plim_alloc(1, sizeof *sides);
    int status = PLIM_EXIT_INTERNAL;
    a.rest = plim_alloc((size_t)argc + 3, sizeof *a.rest);
    if (a.rest && sides) {
        static char name[] = "fit";
        a.rest[0] = name;
        status = parse(argc, argv, &a);
    }
    if (status == PLIM_EXIT_YES)
        status = a.is_help ? plim_help_command(stdout, &plim_cli_check) : answer(&a, sides);
    plim_free(a.rest);
    plim_free(sides);
    return status;
}

const struct plim_cli_command plim_cli_check = {
    .name = "check",
    .arguments = "[OPTIONS] BILL|MODEL RECEIPT|LOG [FIT'S OPTIONS]",
    .summary = "compare a bill with a receipt, or with an engine's log",
    .examples = "  plimsoll check bill.json llama-server.log\n"
                "  plimsoll check model.gguf llama-server.log -c 8192\n"
                "  journalctl -u llama | plimsoll check bill.json -\n"
                "  plimsoll check --receipt-from llama-server.log --json\n",
    .run = run,
    .options = list_options,
};

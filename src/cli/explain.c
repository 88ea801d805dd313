/* SPDX-License-Identifier: MIT */
/* plimsoll explain: from a log to what happened, why, and what to do. */
#include "report/explain.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/explain_check.h"
#include "cli/explain_input.h"
#include "cli/help.h"
#include "diagnose/diagnose.h"
#include "diagnose/scan/patterns/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option { OPTION_EXIT_STATUS, OPTION_FOLLOW, OPTION_JSON, OPTION_COLOR, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_EXIT_STATUS] = { "--exit-status", "", "N",
                             "how the command ended: 137 is killed, and the log may not say so" },
    [OPTION_FOLLOW] = { "-f --follow", "", NULL, "go on reading as the log grows, like tail -F; explain each failure" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.explain/1)" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

struct arguments {
    const char *log, *color;
    int exit_status; /* NO_STATUS: not given */
    bool is_json, is_follow, is_help;
};

enum { NO_STATUS = -1000 };

static int usage(const char *format, const char *text)
{
    return plim_cli_usage("plimsoll explain crash.log, or ... | plimsoll explain -", format, text);
}

static int parse_status(const char *text, int *ret_status)
{
    char *end = NULL;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < -64 || n > 255)
        return plim_cli_usage("a command's exit status is 0 to 255; Python says -9 for a kill",
                              "invalid value '%s' for --exit-status", text);
    *ret_status = (int)n;
    return PLIM_EXIT_YES;
}

static int parse(int argc, char **argv, struct arguments *a)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if (plim_text_has_word(rows[OPTION_JSON].names, word)) {
            a->is_json = true;
        } else if (plim_text_has_word(rows[OPTION_FOLLOW].names, word)) {
            a->is_follow = true;
        } else if (plim_text_has_word(rows[OPTION_HELP].names, word)) {
            a->is_help = true;
            return PLIM_EXIT_YES;
        } else if ((value = plim_cli_value(argc, argv, &i, "--color"))) {
            a->color = value;
        } else if ((value = plim_cli_value(argc, argv, &i, "--exit-status"))) {
            int status = parse_status(value, &a->exit_status);
            if (status != PLIM_EXIT_YES)
                return status;
        } else if (word[0] == '-' && word[1]) {
            return plim_text_has_word("--color --exit-status", word)
                       ? usage("%s needs a value", word)
                       : plim_help_unknown_option(&plim_cli_explain, word);
        } else if (a->log) {
            return usage("one log at a time: '%s' is a second", word);
        } else {
            a->log = word;
        }
    }
    if (a->color && !plim_text_has_word("auto always never", a->color))
        return plim_cli_usage("write auto, always or never", "invalid value '%s' for --color", a->color);
    if (!a->log && plim_system_is_terminal(fileno(stdin)) && a->exit_status == NO_STATUS)
        return usage("%s", "no log to read: name a file, or pipe one in");
    return PLIM_EXIT_YES;
}

/* --- the answer --- */

/* Causes, and what to do about the root. Returns false when memory is short. */
static bool explain(const struct plim_diagnosis *diagnosis, struct plim_explanation *e)
{
    e->diagnosis = diagnosis;
    e->n_items = diagnosis->n_findings;
    e->items = plim_alloc(e->n_items + 1, sizeof *e->items);
    if (!e->items)
        return false;
    for (uint32_t i = 0; i < e->n_items; i++) {
        struct plim_explained *item = &e->items[i];
        item->finding = &diagnosis->findings[i];
        plim_cause_find(item->finding, &diagnosis->context, &item->cause);
        item->has_entry = plim_knowledge_of(item->finding, item->cause.advised, &item->entry);
        if (i == 0)
            plim_remedies_find(item->finding, &diagnosis->context, &item->cause, &item->remedies);
    }
    plim_cli_explain_check(e);
    return true;
}

static int report(const struct arguments *a, const char *source, const struct plim_diagnosis *diagnosis,
                  const struct plim_explain_extent *extent)
{
    const struct plim_style style = { .has_colour = plim_cli_has_colour(fileno(stdout), a->color) };
    struct plim_explanation *e = plim_alloc(1, sizeof *e);
    int status = PLIM_EXIT_INTERNAL;
    if (e && explain(diagnosis, e)) {
        bool is_written = true;
        e->source = source;
        e->is_no_text = extent->is_no_text;
        e->n_bytes_before = extent->n_bytes_before;
        e->has_more = extent->has_more;
        if (a->is_json)
            is_written = plim_report_explain_json(stdout, e);
        else
            plim_report_explain_text(stdout, e, &style);
        const bool is_named = e->n_items > 0 && e->items[0].cause.advised != PLIM_CAUSE_UNKNOWN;
        status = !plim_cli_flush() || !is_written ? PLIM_EXIT_INTERNAL : is_named ? PLIM_EXIT_YES : PLIM_EXIT_NO;
    }
    if (e)
        plim_free(e->items);
    plim_free(e);
    return status;
}

/* While a log grows: what is new in it. */
struct follower {
    const struct arguments *arguments;
    const char *source;
    bool has_reported;
    int status;
};

static bool is_failure(const struct plim_finding *finding)
{
    return finding->pattern->role == PLIM_PATTERN_ROLE_FAILURE || finding->pattern->role == PLIM_PATTERN_ROLE_FAULT;
}

static void when_quiet(struct plim_diagnose *diagnose, void *context)
{
    struct follower *f = context;
    const struct plim_diagnosis *diagnosis = plim_diagnose_now(diagnose);
    bool has_failure = false;
    for (uint32_t i = 0; i < diagnosis->n_findings; i++)
        has_failure = has_failure || is_failure(&diagnosis->findings[i]);
    if (!has_failure)
        return;
    f->status = report(f->arguments, f->source, diagnosis, &(struct plim_explain_extent){ 0 });
    f->has_reported = true;
    plim_diagnose_forget(diagnose);
}

/* The message itself instead of a file that has it: words, and no file of that name. */
static bool is_message(const struct arguments *a)
{
    struct plim_file_status status;
    if (!a->log || a->is_follow || !a->log[strcspn(a->log, " \t\n")])
        return false;
    const int error = plim_system_look(a->log, true, &status);
    return error == ENOENT || error == ENAMETOOLONG || error == ENOTDIR;
}

/* Words that name no file, and in which no message is known: most likely a file that is not there. */
static int fail_missing(const char *log)
{
    struct plim_error err = { 0 };
    plim_fail(&err, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "no file of that name, and no message that plimsoll knows");
    plim_error_where(&err, log);
    return plim_cli_fail(&err);
}

static int answer(const struct arguments *a)
{
    const bool is_stdin = !a->log || !strcmp(a->log, "-");
    const bool is_without = !a->log && plim_system_is_terminal(fileno(stdin)); /* only an exit status */
    const bool is_given = is_message(a);
    const char *source = is_without ? "no log" : is_stdin ? "standard input" : is_given ? "message" : a->log;
    struct follower follower = { .arguments = a, .source = source, .status = PLIM_EXIT_NO };
    const struct plim_explain_input input = {
        .path = is_stdin ? NULL : a->log,
        .max_bytes = PLIM_MAX_LOG_BYTES,
        .is_follow = a->is_follow,
        .when_quiet = when_quiet,
        .context = &follower,
    };
    struct plim_error err = { 0 };
    struct plim_diagnose *diagnose = plim_diagnose_new();
    int status = PLIM_EXIT_INTERNAL;
    struct plim_explain_extent extent = { 0 };
    if (!diagnose)
        plim_fail(&err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "not enough memory");
    else if (is_given)
        plim_diagnose_feed(diagnose, a->log, strlen(a->log));
    else if (!is_without)
        plim_explain_read(&input, diagnose, &extent, &err);
    if (err.code < 0) {
        status = plim_cli_fail(&err);
    } else if (diagnose) {
        if (a->exit_status != NO_STATUS)
            plim_diagnose_exit_status(diagnose, a->exit_status);
        const struct plim_diagnosis *diagnosis = plim_diagnose_end(diagnose);
        if (is_given && diagnosis->n_findings == 0)
            status = fail_missing(a->log);
        else
            status = a->is_follow && follower.has_reported ? follower.status : report(a, source, diagnosis, &extent);
    }
    plim_diagnose_free(diagnose);
    return status;
}

static int run(int argc, char **argv)
{
    struct arguments a = { .exit_status = NO_STATUS };
    int status = parse(argc, argv, &a);
    if (status != PLIM_EXIT_YES)
        return status;
    return a.is_help ? plim_help_command(stdout, &plim_cli_explain) : answer(&a);
}

const struct plim_cli_command plim_cli_explain = {
    .name = "explain",
    .arguments = "[OPTIONS] [LOG|MESSAGE|-]",
    .summary = "what happened in a crash: the cause, and what to do first",
    .examples = "  plimsoll explain crash.log\n"
                "  journalctl -u ollama | plimsoll explain -\n"
                "  plimsoll explain --exit-status 137 < build.log\n"
                "  plimsoll explain --follow server.log\n"
                "  plimsoll explain 'CUDA out of memory. Tried to allocate 2.00 GiB'\n",
    .run = run,
    .options = list_options,
};

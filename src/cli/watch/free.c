/* SPDX-License-Identifier: MIT */
/* plimsoll free: end processes that hold memory on cards, and see that it comes back. */
#include "cli/watch/free.h"
#include "base/mem.h"
#include "base/system.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "report/print.h"
#include "report/watch/free.h"
#include "watch/ending/users.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STEP_MS = 100,
    LONGEST_GRACE_S = 3600,
    BACK_WITHIN_MS = 5000, /* a driver needs up to a second to tear down a context of 80 GB */
    BACK_STEP_MS = 100,
};

enum option {
    OPTION_STALE,
    OPTION_OLDER,
    OPTION_USER,
    OPTION_CARD,
    OPTION_DRY_RUN,
    OPTION_YES,
    OPTION_GRACE,
    OPTION_IDLE_AFTER,
    OPTION_JSON,
    OPTION_SYSROOT,
    OPTION_COLOR,
    OPTION_HELP,
    N_OPTIONS
};

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_STALE] = { "--stale", "", NULL, "end what is stale; with PIDs: only those that are" },
    [OPTION_OLDER] = { "--older", "", "TIME", "only what was started so long ago: 90m, 2h, 3d" },
    [OPTION_USER] = { "-u --user", "", "NAME", "only processes of this user, by name or number" },
    [OPTION_CARD] = { "--card", "", "CARD",
                      "only what holds memory on this card: gpu1, 1, its PCI address, or the beginning of its UUID" },
    [OPTION_DRY_RUN] = { "-n --dry-run", "", NULL, "say what would be ended, and end nothing" },
    [OPTION_YES] = { "-y --yes", "", NULL, "end without asking" },
    [OPTION_GRACE] = { "--grace", "", "TIME", "from SIGTERM to SIGKILL (default: 10s)" },
    [OPTION_IDLE_AFTER] = { "--idle-after", "", "TIME", "idle for so long may be stale (default: 10m)" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.free/1); never asks" },
    [OPTION_SYSROOT] = { "--sysroot", "", "DIR", "read /proc and /sys below this directory; ends nothing" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

/* --- arguments --- */

static bool is_bare(const struct plim_free_arguments *a) { return !a->n_pids && !a->is_stale && !a->is_narrowed; }

static bool read_span(const char *text, int64_t most_s, int64_t *ret_s)
{
    int64_t seconds;
    if (!plim_span_parse(text, &seconds) || seconds > most_s)
        return false;
    *ret_s = seconds;
    return true;
}

static int wrong_value(const char *name, const char *value)
{
    char what[64];
    snprintf(what, sizeof what, "%s", name);
    return plim_cli_usage("times are written 90s, 10m, 2h or 3d; 'plimsoll free --help' lists the options",
                          "invalid value '%s' for %s", value, what);
}

/* An option with a value; PLIM_EXIT_NO: it is none. */
static int take_value(int argc, char **argv, int *i, struct plim_free_arguments *a)
{
    const char *word = argv[*i], *value;
    if ((value = plim_cli_value(argc, argv, i, rows[OPTION_OLDER].names)))
        return read_span(value, INT64_MAX, &a->older_s) ? PLIM_EXIT_YES : wrong_value("--older", value);
    if ((value = plim_cli_value(argc, argv, i, rows[OPTION_GRACE].names)))
        return read_span(value, LONGEST_GRACE_S, &a->grace_s) ? PLIM_EXIT_YES : wrong_value("--grace", value);
    if ((value = plim_cli_value(argc, argv, i, rows[OPTION_IDLE_AFTER].names)))
        return read_span(value, INT64_MAX, &a->idle_after_s) && a->idle_after_s > 0
                   ? PLIM_EXIT_YES
                   : wrong_value("--idle-after", value);
    if ((value = plim_cli_value(argc, argv, i, rows[OPTION_USER].names)))
        a->user = value;
    else if ((value = plim_cli_value(argc, argv, i, rows[OPTION_CARD].names)))
        a->card = value;
    else if ((value = plim_cli_value(argc, argv, i, rows[OPTION_COLOR].names)))
        a->color = value;
    else if ((value = plim_cli_value(argc, argv, i, rows[OPTION_SYSROOT].names)))
        a->sysroot = value;
    else if (plim_text_has_word("--older --grace --idle-after -u --user --card --color --sysroot", word))
        return plim_cli_usage("'plimsoll free --help' lists the options", "%s needs a value", word);
    else
        return PLIM_EXIT_NO;
    return PLIM_EXIT_YES;
}

static bool take_switch(const char *word, struct plim_free_arguments *a)
{
    const struct {
        enum option option;
        bool *is_on;
    } switches[] = { { OPTION_STALE, &a->is_stale },
                     { OPTION_DRY_RUN, &a->is_dry_run },
                     { OPTION_YES, &a->is_yes },
                     { OPTION_JSON, &a->is_json },
                     { OPTION_HELP, &a->is_help } };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (plim_text_has_word(rows[switches[i].option].names, word)) {
            *switches[i].is_on = true;
            return true;
        }
    return false;
}

/* Digits alone, and a number that a process can have: "1e3" or "-1" would be another process, or all. */
static int take_pid(const char *word, struct plim_free_arguments *a)
{
    const size_t n = strlen(word);
    if (n == 0 || n > 10 || strspn(word, "0123456789") != n || strtoll(word, NULL, 10) < 1 ||
        strtoll(word, NULL, 10) > INT32_MAX)
        return plim_cli_usage("plimsoll free PID..., or plimsoll free --stale; 'plimsoll ps' lists the processes",
                              "'%s' is not the number of a process", word);
    if (a->n_pids == PLIM_FREE_MAX_PIDS)
        return plim_cli_usage("end them in several steps", "more than %d processes", PLIM_FREE_MAX_PIDS);
    a->pid[a->n_pids++] = strtoll(word, NULL, 10);
    return PLIM_EXIT_YES;
}

static int parse(int argc, char **argv, struct plim_free_arguments *a)
{
    bool is_end = false; /* "--" was read */
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int status;
        if (is_end || word[0] != '-') {
            status = take_pid(word, a);
        } else if (!strcmp(word, "--")) {
            is_end = true;
            continue;
        } else if (take_switch(word, a)) {
            continue;
        } else if ((status = take_value(argc, argv, &i, a)) == PLIM_EXIT_NO) {
            return plim_help_unknown_option(&plim_cli_free, word);
        }
        if (status != PLIM_EXIT_YES)
            return status;
    }
    a->is_narrowed = a->older_s > 0 || a->user || a->card;
    if (a->color && !plim_text_has_word("auto always never", a->color))
        return plim_cli_usage("write auto, always or never",
                              "invalid value '%s' for --color: expected auto, always or never", a->color);
    if (a->is_yes && !a->is_dry_run && is_bare(a))
        return plim_cli_usage("name a PID, or --stale", "--yes does not say which processes to end");
    return PLIM_EXIT_YES;
}

/* --- asking --- */

static bool is_agreed(uint32_t n)
{
    char line[16];
    plim_print(stderr, "End %s%" PRIu32 " process%s? [y/N] ", n == 1 ? "this " : "these ", n, n == 1 ? "" : "es");
    fflush(stderr);
    if (!fgets(line, sizeof line, stdin))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return plim_text_has_word("y Y yes Yes YES", line);
}

static enum plim_free_stage stage_of(const struct plim_free_arguments *a, uint32_t n)
{
    if (a->is_dry_run || is_bare(a))
        return PLIM_FREE_DRY_RUN;
    if (n == 0)
        return PLIM_FREE_LISTED;
    if (a->is_yes)
        return PLIM_FREE_DONE;
    if (a->is_json || !plim_system_is_terminal(STDIN_FILENO) || !plim_system_is_terminal(STDERR_FILENO))
        return PLIM_FREE_LISTED;
    return is_agreed(n) ? PLIM_FREE_DONE : PLIM_FREE_DECLINED;
}

/* --- ending --- */

/* A line of progress on a terminal, from the first second on. */
static void show_waiting(struct plim_progress *progress, const struct plim_ending *ending, int64_t left_ms)
{
    char text[96];
    uint32_t n = 0;
    for (uint32_t i = 0; i < plim_ending_count(ending); i++)
        n += plim_ending_at(ending, i)->end == PLIM_END_WAITING;
    snprintf(text, sizeof text,
             left_ms > 0 ? "waiting for %" PRIu32 " of %" PRIu32 " to end; SIGKILL in %" PRId64 " s"
                         : "waiting for %" PRIu32 " of %" PRIu32 " to end after SIGKILL",
             n, plim_ending_count(ending), (left_ms + 999) / 1000);
    plim_progress_say(progress, text);
}

/* Each is reported when it has ended. */
static void show_ends(struct plim_progress *progress, const struct plim_ending *ending, bool *is_shown,
                      const struct plim_style *style)
{
    for (uint32_t i = 0; is_shown && i < plim_ending_count(ending); i++) {
        const struct plim_ended *e = plim_ending_at(ending, i);
        if (is_shown[i] || e->end == PLIM_END_WAITING)
            continue;
        plim_progress_clear(progress);
        plim_report_free_end(stdout, e, style);
        fflush(stdout);
        is_shown[i] = true;
    }
}

static void wait_for_ends(const struct plim_free_arguments *a, struct plim_ending *ending,
                          struct plim_progress *progress, const struct plim_style *style)
{
    bool *is_shown = a->is_json ? NULL : plim_alloc(plim_ending_count(ending) + 1, sizeof *is_shown);
    const uint64_t begin_us = plim_system_now_us();
    bool is_over = false;
    while (!is_over) {
        is_over = plim_ending_advance(ending, STEP_MS);
        show_ends(progress, ending, is_shown, style);
        if (!is_over)
            show_waiting(progress, ending, a->grace_s * 1000 - (int64_t)((plim_system_now_us() - begin_us) / 1000));
    }
    plim_progress_clear(progress);
    plim_free(is_shown);
}

/* A sample that fails says nothing; the next one may. False: memory of those that have ended is not back. */
static bool wait_for_memory(struct plim_free_look *look, struct plim_ending *ending, struct plim_progress *progress)
{
    const uint64_t begin_us = plim_system_now_us();
    bool has_ended = false, is_back = false;
    for (uint32_t i = 0; i < plim_ending_count(ending); i++)
        has_ended |= plim_ending_has_ended(plim_ending_at(ending, i)->end);
    while (has_ended) {
        struct plim_error err = { 0 };
        is_back = plim_free_look_sample(look, &err) == 0 && plim_ending_verify(ending, look->sample);
        if (is_back || plim_system_now_us() - begin_us > (uint64_t)BACK_WITHIN_MS * 1000)
            break;
        plim_progress_say(progress, "waiting for the driver to give the memory back");
        plim_system_sleep_ms(BACK_STEP_MS);
    }
    plim_progress_clear(progress);
    return is_back || !has_ended;
}

/*
 * The handles come first, then a second look: between the list and the signal a process may have ended, its number may
 * have a new owner, and what was stale may compute again.
 */
static int end_them(const struct plim_free_arguments *a, struct plim_free_look *look, struct plim_free_answer *answer,
                    const struct plim_style *style, struct plim_error *reterr)
{
    struct plim_progress progress;
    struct plim_ending *ending = NULL;
    struct plim_choice *again = NULL;
    uint32_t n = 0;
    int result = plim_ending_open(look->choice, &look->asker, a->grace_s * 1000, &ending, reterr);
    if (result == 0)
        result = plim_free_look_choose(a, look, &again, reterr);
    if (result == 0)
        result = plim_ending_confirm(ending, again, look->sample, &n, reterr);
    plim_choice_free(again);
    if (result < 0) {
        plim_ending_close(ending);
        return result;
    }
    plim_progress_begin(&progress);
    progress.is_on = plim_system_is_terminal(STDERR_FILENO);
    wait_for_ends(a, ending, &progress, style);
    answer->ending = ending;
    if (!wait_for_memory(look, ending, &progress) && look->sample && plim_free_look_kinship(a, look, NULL) == 0)
        answer->n_users =
            plim_device_users(&look->kinship, a->sysroot, look->sample, answer->user, PLIM_FREE_MAX_USERS);
    return 0;
}

static int exit_status(const struct plim_free_answer *answer)
{
    bool is_denied = false;
    if (answer->stage == PLIM_FREE_DRY_RUN && answer->choice->n_chosen)
        return PLIM_EXIT_YES;
    if (answer->stage == PLIM_FREE_DONE) {
        bool has_ended = false;
        for (uint32_t i = 0; i < plim_ending_count(answer->ending); i++) {
            const enum plim_ending_end end = plim_ending_at(answer->ending, i)->end;
            is_denied |= end == PLIM_END_DENIED;
            has_ended |= plim_ending_has_ended(end);
        }
        if (plim_free_is_done(answer))
            return PLIM_EXIT_YES;
        return is_denied && !has_ended ? plim_error_exit_status(PLIM_E_NO_DRIVER) : PLIM_EXIT_NO;
    }
    for (uint32_t i = 0; i < answer->choice->n && !answer->choice->n_chosen; i++)
        is_denied |=
            answer->choice->candidate[i].is_named && plim_keep_is_permission(answer->choice->candidate[i].keep);
    return is_denied ? plim_error_exit_status(PLIM_E_NO_DRIVER) : PLIM_EXIT_NO;
}

static int answer(const struct plim_free_arguments *a, struct plim_free_look *look, struct plim_error *reterr)
{
    const struct plim_style style = { .has_colour = plim_cli_has_colour(STDOUT_FILENO, a->color) };
    struct plim_free_answer answer = { .stage = PLIM_FREE_DRY_RUN, .is_bare = is_bare(a) };
    bool is_written = true;
    int result = plim_free_look_choose(a, look, &look->choice, reterr);
    if (result < 0)
        return result;
    answer.choice = look->choice;
    if (!a->is_json) {
        plim_report_free_list(stdout, &answer, &style);
        fflush(stdout);
    }
    answer.stage = stage_of(a, look->choice->n_chosen);
    if (answer.stage == PLIM_FREE_DONE && (result = end_them(a, look, &answer, &style, reterr)) < 0)
        return result;
    if (a->is_json)
        is_written = plim_report_free_json(stdout, &answer);
    else
        plim_report_free_outcome(stdout, &answer, &style);
    const int status = exit_status(&answer);
    plim_ending_close(answer.ending);
    return plim_cli_flush() && is_written ? status : PLIM_EXIT_INTERNAL;
}

static int run(int argc, char **argv)
{
    struct plim_free_arguments *a = plim_alloc(1, sizeof *a);
    struct plim_free_look look = { 0 };
    struct plim_error err = { 0 };
    if (!a)
        return PLIM_EXIT_INTERNAL;
    a->grace_s = PLIM_ENDING_GRACE_MS / 1000;
    a->sysroot = getenv("PLIMSOLL_SYSROOT");
    int status = parse(argc, argv, a);
    if (status == PLIM_EXIT_YES && a->is_help) {
        status = plim_help_command(stdout, &plim_cli_free);
    } else if (status == PLIM_EXIT_YES) {
        status = plim_free_look_open(a, &look, &err);
        if (status == 0)
            status = answer(a, &look, &err);
        if (status < 0)
            status = plim_cli_fail(&err);
        plim_free_look_close(&look);
    }
    plim_free(a);
    return status;
}

const struct plim_cli_command plim_cli_free = {
    .name = "free",
    .arguments = "[OPTIONS] [PID...]",
    .summary = "end what holds a card's memory, and see that it comes back",
    .examples = "  plimsoll free\n"
                "  plimsoll free --stale\n"
                "  plimsoll free --stale --older 2h --dry-run\n"
                "  plimsoll free 41233 --dry-run\n",
    .run = run,
    .options = list_options,
};

/* SPDX-License-Identifier: MIT */
/* plimsoll sweep: a command for each row of a table of values, to CSV. */
#include "report/sweep/sweep.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "report/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option { OPTION_OUTPUT, OPTION_JOBS, OPTION_RETRY, OPTION_DRY_RUN, OPTION_JSON, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_OUTPUT] = { "-o --output", "", "FILE", "the table (default: the name of the sweep, ending in .csv)" },
    [OPTION_JOBS] = { "-j --jobs", "", "N", "rows at a time (default: 2, as cores and memory allow)" },
    [OPTION_RETRY] = { "--retry", "", NULL, "run failed rows again" },
    [OPTION_DRY_RUN] = { "-n --dry-run", "", NULL, "print the commands that would run" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.sweep/1)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

enum { PATH_BYTES = 4096, MOST_JOBS = 64, TEXT_BYTES = 512 };

struct arguments {
    const char *path, *output;
    unsigned n_jobs; /* 0: not said */
    bool retries, is_dry, is_json, is_help;
};

static int take_value(enum option option, const char *value, struct arguments *a)
{
    char *end;
    if (option == OPTION_OUTPUT) {
        a->output = value;
        return PLIM_EXIT_YES;
    }
    const long n = strtol(value, &end, 10);
    if (*end || end == value || n < 1 || n > MOST_JOBS)
        return plim_cli_usage("write a number from 1 to 64", "invalid value '%s' for --jobs", value);
    a->n_jobs = (unsigned)n;
    return PLIM_EXIT_YES;
}

static bool take_flag(const char *word, struct arguments *a)
{
    bool *const flags[N_OPTIONS] = { [OPTION_RETRY] = &a->retries,
                                     [OPTION_DRY_RUN] = &a->is_dry,
                                     [OPTION_JSON] = &a->is_json,
                                     [OPTION_HELP] = &a->is_help };
    for (int i = 0; i < N_OPTIONS; i++)
        if (flags[i] && plim_text_has_word(rows[i].names, word))
            return *flags[i] = true;
    return false;
}

static int parse(int argc, char **argv, struct arguments *a)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = NULL;
        enum option option = OPTION_OUTPUT;
        for (; option <= OPTION_JOBS && !value; option += !value)
            value = plim_cli_value(argc, argv, &i, rows[option].names);
        int result = PLIM_EXIT_YES;
        if (value)
            result = take_value(option, value, a);
        else if (plim_text_has_word("-o --output -j --jobs", word))
            return plim_cli_usage("'plimsoll sweep --help' lists the options", "%s needs a value", word);
        else if (word[0] == '-' && word[1] && !take_flag(word, a))
            return plim_help_unknown_option(&plim_cli_sweep, word);
        else if (word[0] != '-' && a->path)
            return plim_cli_usage("one sweep runs at a time", "unexpected argument '%s'", word);
        else if (word[0] != '-')
            a->path = word;
        if (result != PLIM_EXIT_YES)
            return result;
    }
    if (!a->path && !a->is_help)
        return plim_cli_usage("docs/sweep.md shows one", "a file is needed: plimsoll sweep FILE");
    return PLIM_EXIT_YES;
}

/* --- files --- */

/* Memory of the caller's. */
static char *read_file(const char *path, size_t *ret_length, struct plim_error *reterr)
{
    int file;
    size_t n = 1;
    int error = plim_system_open(path, PLIM_OPEN_WAIT, &file);
    if (error) {
        plim_fail_errno(reterr, path, "read", error);
        return NULL;
    }
    char *text = plim_alloc_unset(PLIM_MAX_SWEEP_BYTES + 1, 1);
    for (*ret_length = 0; text && !error && n && *ret_length <= PLIM_MAX_SWEEP_BYTES; *ret_length += n) {
        n = 0;
        error = plim_system_read(file, text + *ret_length, PLIM_MAX_SWEEP_BYTES + 1 - *ret_length, &n);
    }
    plim_system_close(file);
    if (error)
        plim_fail_errno(reterr, path, "read", error);
    else if (!text)
        plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (error) {
        plim_free(text);
        return NULL;
    }
    return text;
}

/* "runs/llama.sweep" has its table in "runs/llama.csv". */
static void name_table(const struct arguments *a, char ret_path[PATH_BYTES])
{
    const char *slash = strrchr(a->path, '/'), *name = slash ? slash + 1 : a->path, *dot = strrchr(name, '.');
    const size_t n = dot && dot > name ? (size_t)(dot - a->path) : strlen(a->path);
    if (a->output)
        snprintf(ret_path, PATH_BYTES, "%s", a->output);
    else
        snprintf(ret_path, PATH_BYTES, "%.*s.csv", (int)(n < 4000 ? n : 4000), a->path);
}

/* --- while it runs --- */

struct shown {
    const struct plim_sweep *sweep;
    bool is_line;
    uint64_t last_us;
};

static void clear_line(struct shown *shown)
{
    if (shown->is_line)
        plim_print(stderr, "\r\033[K");
    shown->is_line = false;
}

static void show_row(struct shown *shown, const struct plim_sweep_progress *p)
{
    const struct plim_sweep_table *table = p->table;
    const size_t row = p->last_row;
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%s after %s s%s%s", plim_sweep_status_name(table->status[row]),
             table->cell[row][table->first_ours + 2], table->status[row] == PLIM_SWEEP_FAILED ? ", " : "",
             table->cell[row][table->first_ours + 3]);
    clear_line(shown);
    plim_report_sweep_row(stderr, shown->sweep, table, row, text);
}

/* On a terminal: a line for each row that has ended, and one of how far it is. */
static void show(void *context, const struct plim_sweep_progress *p)
{
    enum { BETWEEN_US = 500000 };
    struct shown *shown = context;
    char span[PLIM_SPAN_TEXT_BYTES];
    const uint64_t now = plim_system_now_us();
    if (p->last_row != SIZE_MAX)
        show_row(shown, p);
    if (p->last_row == SIZE_MAX && now < shown->last_us + BETWEEN_US)
        return;
    shown->last_us = now;
    plim_print(stderr, "\r\033[K%zu of %zu rows, %zu running", p->n_done, p->n_done + p->n_running + p->n_left,
               p->n_running);
    if (p->n_failed)
        plim_print(stderr, ", %zu failed", p->n_failed);
    if (p->seconds_left >= 0)
        plim_print(stderr, ", about %s left", plim_span_text(span, (int64_t)p->seconds_left));
    fflush(stderr);
    shown->is_line = true;
}

/* --- the whole --- */

static int answer(const struct arguments *a, const struct plim_sweep *sweep, const struct plim_sweep_table *table)
{
    bool is_all = true, is_written = true;
    for (size_t i = 0; i < table->n_wanted; i++)
        is_all = is_all && table->status[i] == PLIM_SWEEP_OK;
    if (a->is_json)
        is_written = plim_report_sweep_json(stdout, sweep, table);
    else
        plim_report_sweep_text(stdout, sweep, table);
    if (!is_written || !plim_cli_flush())
        return PLIM_EXIT_INTERNAL;
    return is_all ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

static int run_rows(const struct arguments *a, const struct plim_sweep *sweep, const struct plim_sweep_rows *sweep_rows,
                    struct plim_sweep_table *table)
{
    char self[PATH_BYTES];
    struct plim_error error = { 0 };
    struct shown shown = { .sweep = sweep };
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int signal_number = 0;
    self[n > 0 ? n : 0] = '\0';
    const struct plim_sweep_run run = { .sweep = sweep,
                                        .rows = sweep_rows,
                                        .table = table,
                                        .self = n > 0 ? self : "plimsoll",
                                        .most_jobs = a->n_jobs,
                                        .show = plim_system_is_terminal(STDERR_FILENO) ? show : NULL,
                                        .context = &shown };
    const int result = plim_sweep_run(&run, &signal_number, &error);
    clear_line(&shown);
    if (result < 0)
        return plim_cli_fail(&error);
    if (signal_number)
        plim_print(stderr, "plimsoll: broken off; the same command goes on with it\n");
    return answer(a, sweep, table);
}

static int sweep_rows_of(const struct arguments *a, const struct plim_sweep *sweep, const struct plim_sweep_rows *list)
{
    char path[PATH_BYTES];
    struct plim_error error = { 0 };
    struct plim_sweep_table table;
    name_table(a, path);
    if (plim_sweep_table_open(&table, sweep, list, path, a->retries, !a->is_dry, &error) < 0)
        return plim_cli_fail(&error);
    int status = PLIM_EXIT_YES;
    if (a->is_dry) {
        plim_report_sweep_plan(stdout, sweep, list, &table);
        status = plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
    } else {
        status = run_rows(a, sweep, list, &table);
    }
    plim_sweep_table_done(&table);
    return status;
}

static int run(int argc, char **argv)
{
    struct arguments a = { .path = NULL };
    struct plim_error error = { 0 };
    struct plim_sweep sweep;
    struct plim_sweep_rows list = { .n = 0 };
    size_t length;
    int status = parse(argc, argv, &a);
    if (status != PLIM_EXIT_YES)
        return status;
    if (a.is_help || !a.path)
        return plim_help_command(stdout, &plim_cli_sweep);
    char *text = read_file(a.path, &length, &error);
    if (!text)
        return plim_cli_fail(&error);
    const int result = plim_sweep_read(text, length, a.path, &sweep, &error);
    plim_free(text);
    if (result < 0)
        return plim_cli_fail(&error);
    status = plim_sweep_rows(&sweep, &list, &error) < 0 ? plim_cli_fail(&error) : sweep_rows_of(&a, &sweep, &list);
    plim_sweep_rows_done(&list);
    plim_sweep_done(&sweep);
    return status;
}

const struct plim_cli_command plim_cli_sweep = {
    .name = "sweep",
    .arguments = "[OPTIONS] FILE",
    .summary = "run a command for each row of a table of values, to CSV",
    .examples = "  plimsoll sweep contexts.sweep\n"
                "  plimsoll sweep --dry-run train.sweep\n"
                "  plimsoll sweep contexts.sweep --retry -o again.csv\n",
    .run = run,
    .options = list_options,
};

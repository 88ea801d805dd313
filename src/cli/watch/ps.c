/* SPDX-License-Identifier: MIT */
/* plimsoll ps: who holds the memory of the cards. */
#include "report/watch/ps.h"
#include "base/mem.h"
#include "base/system.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/watch/asker.h"
#include "cli/watch/cards.h"
#include "cli/watch/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option {
    OPTION_CARD,
    OPTION_USER,
    OPTION_SORT,
    OPTION_IDLE_AFTER,
    OPTION_JSON,
    OPTION_PLAIN,
    OPTION_METRICS,
    OPTION_SYSROOT,
    OPTION_COLOR,
    OPTION_HELP,
    N_OPTIONS
};

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_CARD] = { "--card", "", "CARD",
                      "show this card only: gpu1, 1, its PCI address, or the beginning of its UUID" },
    [OPTION_USER] = { "-u --user", "", "NAME", "show processes of this user only, by name or number" },
    [OPTION_SORT] = { "--sort", "", "memory|idle|age|pid|user", "order of the processes of a card (default: memory)" },
    [OPTION_IDLE_AFTER] = { "--idle-after", "", "TIME", "idle for so long may be stale: 90s, 10m, 2h (default: 10m)" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.ps/1)" },
    [OPTION_PLAIN] = { "--plain", "", NULL, "a line for each process, fields parted by tabs" },
    [OPTION_METRICS] = { "--metrics", "", "[=processes]", "text for Prometheus; =processes: a series for each" },
    [OPTION_SYSROOT] = { "--sysroot", "", "DIR", "read /proc and /sys below this directory" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_PLAIN, FORMAT_METRICS };
enum sort { SORT_MEMORY, SORT_IDLE, SORT_AGE, SORT_PID, SORT_USER };

struct arguments {
    const char *card, *user, *color, *sysroot;
    enum sort sort;
    enum format format;
    int64_t idle_after_s;
    bool with_processes, is_help;
};

/* --- arguments --- */

static int bad_value(enum option option, const char *value, const char *expected)
{
    return plim_cli_usage(expected, "invalid value '%s' for %s", value,
                          rows[option].names + (option == OPTION_USER ? 3 : 0));
}

static int read_value(struct arguments *a, enum option option, const char *value)
{
    static const char *const sorts[] = { "memory", "idle", "age", "pid", "user" };
    switch (option) {
    case OPTION_CARD:
        a->card = value;
        return PLIM_EXIT_YES;
    case OPTION_USER:
        a->user = value;
        return *value ? PLIM_EXIT_YES : bad_value(option, value, "expected a name or a number");
    case OPTION_SORT:
        for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
            if (!strcmp(value, sorts[i])) {
                a->sort = (enum sort)i;
                return PLIM_EXIT_YES;
            }
        return bad_value(option, value, "expected memory, idle, age, pid or user");
    case OPTION_IDLE_AFTER:
        if (!plim_span_parse(value, &a->idle_after_s) || a->idle_after_s < 1)
            return bad_value(option, value, "expected a time: 90s, 10m, 2h");
        return PLIM_EXIT_YES;
    case OPTION_SYSROOT:
        a->sysroot = value;
        return PLIM_EXIT_YES;
    default:
        a->color = value;
        return plim_text_has_word("auto always never", value)
                   ? PLIM_EXIT_YES
                   : bad_value(option, value, "expected auto, always or never");
    }
}

static bool read_flag(struct arguments *a, const char *word)
{
    if (plim_text_has_word(rows[OPTION_HELP].names, word))
        a->is_help = true;
    else if (!strcmp(word, "--json"))
        a->format = FORMAT_JSON;
    else if (!strcmp(word, "--plain"))
        a->format = FORMAT_PLAIN;
    else if (!strcmp(word, "--metrics") || !strcmp(word, "--metrics=processes")) {
        a->format = FORMAT_METRICS;
        a->with_processes = word[sizeof "--metrics" - 1] != '\0';
    } else
        return false;
    return true;
}

static int bad_argument(char *word, const enum option *with_value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (plim_text_has_word(rows[with_value[i]].names, word))
            return plim_cli_usage("'plimsoll ps --help' lists the options", "%s needs a value", word);
    if (word[0] == '-')
        return plim_help_unknown_option(&plim_cli_ps, word);
    return plim_cli_usage("'plimsoll ps --help' lists the options", "unexpected argument '%s'", word);
}

static int parse(int argc, char **argv, struct arguments *a)
{
    static const enum option with_value[] = { OPTION_CARD,       OPTION_USER,    OPTION_SORT,
                                              OPTION_IDLE_AFTER, OPTION_SYSROOT, OPTION_COLOR };
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        int status = PLIM_EXIT_YES;
        if (read_flag(a, argv[i]))
            continue;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value && !value; k++)
            if ((value = plim_cli_value(argc, argv, &i, rows[with_value[k]].names)))
                status = read_value(a, with_value[k], value);
        if (!value)
            return bad_argument(argv[i], with_value, sizeof with_value / sizeof *with_value);
        if (status != PLIM_EXIT_YES)
            return status;
    }
    return PLIM_EXIT_YES;
}

/* --- what is shown --- */

/* Everything of one answer. */
struct view {
    const struct arguments *arguments;
    struct plim_sampler *sampler;
    struct plim_watch *watch;
    const struct plim_sample *sample;
    struct plim_notes notes;
    int64_t uid;
    bool *is_card_shown;
    uint32_t *order;
    uint32_t n_shown;
};

static int choose_cards(struct view *v)
{
    const char *name = v->arguments->card;
    bool is_found = false;
    for (uint32_t i = 0; i < v->sample->n_cards; i++) {
        v->is_card_shown[i] = !name || plim_watch_card_is(&v->sample->card[i], name);
        is_found = is_found || v->is_card_shown[i];
    }
    if (is_found)
        return PLIM_EXIT_YES;
    struct plim_error error = { 0 };
    plim_watch_no_such_card(v->sample, name, &error);
    return plim_cli_fail(&error);
}

/* qsort() has no argument for it. */
static const struct view *sorted_view;

static int64_t key_of(uint32_t holding)
{
    const struct plim_holding *h = &sorted_view->sample->holding[holding];
    const struct plim_sample_process *p = &sorted_view->sample->process[h->process];
    switch (sorted_view->arguments->sort) {
    case SORT_MEMORY:
        return -h->bytes;
    case SORT_IDLE:
        return -plim_watch_rows(sorted_view->watch)[holding].idle_s;
    case SORT_AGE:
        return p->started_unix_s > 0 ? p->started_unix_s : INT64_MAX;
    default:
        return p->pid;
    }
}

static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct plim_sample *s = sorted_view->sample;
    const int64_t x = key_of(a), y = key_of(b);
    if (s->holding[a].card != s->holding[b].card)
        return s->holding[a].card < s->holding[b].card ? -1 : 1;
    if (sorted_view->arguments->sort == SORT_USER) {
        const int order = strcmp(s->process[s->holding[a].process].user, s->process[s->holding[b].process].user);
        if (order)
            return order;
    }
    return x != y ? (x < y ? -1 : 1) : a < b ? -1 : a > b;
}

static void choose_processes(struct view *v)
{
    for (uint32_t i = 0; i < v->sample->n_holdings; i++) {
        const struct plim_holding *h = &v->sample->holding[i];
        const struct plim_sample_process *p = &v->sample->process[h->process];
        const char *user = v->arguments->user;
        if (v->is_card_shown[h->card] && (!user || plim_sample_is_user(p->user, p->uid, user)))
            v->order[v->n_shown++] = i;
    }
    sorted_view = v;
    if (v->n_shown)
        qsort(v->order, v->n_shown, sizeof *v->order, compare);
}

static void add_notes(struct view *v)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *order = getenv("CUDA_DEVICE_ORDER");
    if (visible)
        plim_note(&v->notes,
                  "CUDA_VISIBLE_DEVICES is '%.60s' in this shell: CUDA programs started from it see those "
                  "cards only; %s",
                  visible,
                  order && !strcmp(order, "PCI_BUS_ID") ? "they are numbered as here"
                                                        : "CUDA may number them otherwise (CUDA_DEVICE_ORDER)");
    if (*v->sample->why)
        plim_note(&v->notes, "%s", v->sample->why);
}

/* --- the command --- */

static int look(struct view *v, struct plim_error *reterr)
{
    const struct arguments *a = v->arguments;
    const struct plim_sampler_options from = { .nvml = getenv("PLIMSOLL_NVML"),
                                               .sysroot = a->sysroot ? a->sysroot : getenv("PLIMSOLL_SYSROOT") };
    char log[PLIM_SEEN_LOG_BYTES];
    v->uid = plim_cli_asker(from.sysroot, from.nvml).uid;
    const struct plim_watch_options options = { .idle_after_s = a->idle_after_s, .own_log = plim_seen_own_log(log) };
    int result = plim_sampler_open(&from, &v->sampler, reterr);
    if (result == 0)
        result = plim_watch_open(&options, &v->watch, reterr);
    if (result == 0)
        result = plim_sampler_read(v->sampler, &v->sample, reterr);
    if (result == 0 && v->sample->n_cards == 0)
        result = plim_watch_no_card(v->sample, reterr);
    if (result < 0)
        return result;
    plim_seen_load(v->watch);
    result = plim_watch_add(v->watch, v->sample, reterr);
    if (result == 0)
        plim_seen_save(v->watch);
    v->is_card_shown = plim_alloc(v->sample->n_cards + 1, sizeof *v->is_card_shown);
    v->order = plim_alloc(v->sample->n_holdings + 1, sizeof *v->order);
    return result < 0                     ? result
           : v->is_card_shown && v->order ? 0
                                          : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

static int print(const struct view *v, double seconds)
{
    const struct plim_style style = { .has_colour = plim_cli_has_colour(STDOUT_FILENO, v->arguments->color) };
    const struct plim_ps ps = { .sample = v->sample,
                                .rows = plim_watch_rows(v->watch),
                                .cards = plim_watch_cards(v->watch),
                                .is_card_shown = v->is_card_shown,
                                .order = v->order,
                                .n_shown = v->n_shown,
                                .user = v->arguments->user,
                                .uid = v->uid,
                                .notes = &v->notes };
    switch (v->arguments->format) {
    case FORMAT_JSON:
        if (!plim_report_ps_json(stdout, &ps) && !ferror(stdout)) /* an error of stdout is told at the end */
            return PLIM_EXIT_INTERNAL;
        break;
    case FORMAT_PLAIN:
        plim_report_ps_plain(stdout, &ps);
        break;
    case FORMAT_METRICS:
        plim_report_ps_metrics(stdout, &ps, v->arguments->with_processes, seconds);
        break;
    default:
        plim_report_ps_text(stdout, &ps, &style);
    }
    return plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}

static int answer(struct view *v)
{
    struct plim_error error = { 0 };
    const uint64_t start_us = plim_system_now_us();
    const int result = look(v, &error);
    const double seconds = (double)(plim_system_now_us() - start_us) / 1e6;
    if (result < 0) {
        if (v->arguments->format == FORMAT_METRICS)
            plim_report_ps_metrics(stdout, NULL, false, seconds);
        return plim_cli_fail(&error);
    }
    const int status = choose_cards(v);
    if (status != PLIM_EXIT_YES)
        return status;
    choose_processes(v);
    add_notes(v);
    return print(v, seconds);
}

static int run(int argc, char **argv)
{
    struct arguments a = { .idle_after_s = PLIM_WATCH_IDLE_AFTER_S };
    struct view v = { .arguments = &a };
    int status = parse(argc, argv, &a);
    if (status != PLIM_EXIT_YES)
        return status;
    if (a.is_help)
        return plim_help_command(stdout, &plim_cli_ps);
    status = answer(&v);
    plim_free(v.order);
    plim_free(v.is_card_shown);
    plim_watch_close(v.watch);
    plim_sampler_close(v.sampler);
    return status;
}

const struct plim_cli_command plim_cli_ps = {
    .name = "ps",
    .arguments = "[OPTIONS]",
    .summary = "who holds the memory of the cards, since when, and who is stale",
    .examples = "  plimsoll ps\n"
                "  plimsoll ps --card 0 --sort idle\n"
                "  plimsoll ps --json\n",
    .run = run,
    .options = list_options,
};

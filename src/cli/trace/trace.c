/* SPDX-License-Identifier: MIT */
/* plimsoll trace: a snapshot of PyTorch's memory, its peak, its OOM, the settings that would have got past it; or two,
 * or those of all ranks of a job. */
#include "report/trace/trace.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/trace/choose.h"
#include "cli/trace/page.h"
#include "cli/trace/ranks.h"
#include "cli/trace/record.h"
#include "cli/trace/step.h"
#include "trace/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option {
    OPTION_REPLAY,
    OPTION_CAPACITY,
    OPTION_DEVICE,
    OPTION_HTML,
    OPTION_RANKS,
    OPTION_RECORD,
    OPTION_JSON,
    OPTION_COLOR,
    OPTION_HELP,
    N_OPTIONS
};

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_REPLAY] = { "--replay", "", "SETTINGS", "replay under these settings of PYTORCH_CUDA_ALLOC_CONF" },
    [OPTION_CAPACITY] = { "--capacity", "", "SIZE", "... with so much memory that PyTorch may reserve" },
    [OPTION_DEVICE] = { "--device", "", "N", "the device (default: the one with the longest history)" },
    [OPTION_HTML] = { "--html", "", "FILE",
                      "write a page for a browser that draws the history as well; '-': to stdout" },
    [OPTION_RANKS] = { "--ranks", "", NULL, "snapshots of the ranks of one job (default of three or more)" },
    [OPTION_RECORD] = { "--record", "", "FILE",
                        "run the command that follows (-- COMMAND...) and write what its PyTorch asked its allocator "
                        "for: a step for 'plimsoll fit', or a snapshot if FILE ends in .pickle" },
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.trace/1)" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

struct arguments {
    const char *paths[PLIM_MAX_TRACE_RANKS];
    size_t n_paths;
    const char *color, *page_path;
    const char *path, *second_path; /* the first paths; NULL: there are not so many */
    struct plim_trace_question question;
    long device; /* -1: not named */
    bool is_json, is_help, are_ranks;
};

static int invalid(const char *option, const char *value, const char *hint)
{
    return plim_cli_usage(hint, "invalid value '%s' for %s", value, option);
}

static int take_value(enum option option, const char *value, struct arguments *a)
{
    char *end;
    switch (option) {
    case OPTION_REPLAY:
        a->question.settings = value;
        return PLIM_EXIT_YES;
    case OPTION_CAPACITY:
        if (!plim_size_parse(value, &a->question.capacity_bytes) || !a->question.capacity_bytes)
            return invalid("--capacity", value, "write a size: 24GiB, 8192MiB");
        return PLIM_EXIT_YES;
    case OPTION_DEVICE:
        a->device = strtol(value, &end, 10);
        if (*end || end == value || a->device < 0 || a->device > 255)
            return invalid("--device", value, "write the number of a device: 0");
        return PLIM_EXIT_YES;
    case OPTION_HTML:
        a->page_path = value;
        return PLIM_EXIT_YES;
    default:
        a->color = value;
        if (!plim_text_has_word("auto always never", value))
            return invalid("--color", value, "write auto, always or never");
        return PLIM_EXIT_YES;
    }
}

static bool add_path(struct arguments *a, const char *path)
{
    if (a->n_paths == PLIM_MAX_TRACE_RANKS)
        return false;
    a->path = a->n_paths == 0 ? path : a->path;
    a->second_path = a->n_paths == 1 ? path : a->second_path;
    a->paths[a->n_paths++] = path;
    return true;
}

static int parse(int argc, char **argv, struct arguments *a)
{
    static const enum option with_value[] = { OPTION_REPLAY, OPTION_CAPACITY, OPTION_DEVICE, OPTION_HTML,
                                              OPTION_COLOR };
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = NULL;
        enum option option = N_OPTIONS;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value && !value; k++)
            if ((value = plim_cli_value(argc, argv, &i, rows[with_value[k]].names)))
                option = with_value[k];
        if (value) {
            const int result = take_value(option, value, a);
            if (result != PLIM_EXIT_YES)
                return result;
        } else if (plim_text_has_word(rows[OPTION_JSON].names, word)) {
            a->is_json = true;
        } else if (plim_text_has_word(rows[OPTION_RANKS].names, word)) {
            a->are_ranks = true;
        } else if (plim_text_has_word(rows[OPTION_HELP].names, word)) {
            a->is_help = true;
        } else if (plim_text_has_word("--replay --capacity --device --html --color", word)) {
            return plim_cli_usage("'plimsoll trace --help' lists the options", "%s needs a value", word);
        } else if (word[0] == '-' && word[1]) {
            return plim_help_unknown_option(&plim_cli_trace, word);
        } else if (!add_path(a, word)) {
            return plim_cli_usage("fewer snapshots may be given at once", "more than %d snapshots",
                                  PLIM_MAX_TRACE_RANKS);
        }
    }
    if (!a->path && !a->is_help)
        return plim_cli_usage("torch.cuda.memory._dump_snapshot('snapshot.pickle') writes one",
                              "a snapshot is needed: plimsoll trace SNAPSHOT");
    if ((a->second_path || a->are_ranks) && (a->question.settings || a->question.capacity_bytes))
        return plim_cli_usage("one snapshot is replayed under other settings",
                              "--replay and --capacity go with one snapshot");
    if (a->page_path && (a->second_path || a->are_ranks))
        return plim_cli_usage("plimsoll trace SNAPSHOT --html FILE", "--html goes with one snapshot");
    if (a->page_path && a->is_json && !strcmp(a->page_path, "-"))
        return plim_cli_usage("write the page to a file: --html FILE", "--json and --html - both write to stdout");
    return a->page_path && !a->is_help ? plim_cli_trace_page_check(a->page_path) : PLIM_EXIT_YES;
}

static int analyse(const struct arguments *a, const char *path, struct plim_memory_trace *trace,
                   struct plim_trace_analysis *ret_analysis, struct plim_trace_answer *ret_answer)
{
    const int result = plim_cli_trace_analyse(trace, a->device, &a->question, ret_analysis);
    if (result == PLIM_EXIT_YES)
        *ret_answer = (struct plim_trace_answer){ path, trace, ret_analysis, &a->question };
    return result;
}

static struct plim_style style_of(const struct arguments *a)
{
    return (struct plim_style){ .has_colour = plim_cli_has_colour(STDOUT_FILENO, a->color),
                                .is_unicode = plim_cli_is_unicode() };
}

static int answer(const struct arguments *a, struct plim_memory_trace *trace)
{
    const struct plim_style style = style_of(a);
    struct plim_trace_analysis analysis = { .n_trials = 0 };
    struct plim_trace_answer whole;
    const int result = analyse(a, a->path, trace, &analysis, &whole);
    if (result != PLIM_EXIT_YES)
        return result;
    const bool is_asked = a->question.settings || a->question.capacity_bytes;
    const bool is_yes = !is_asked || (analysis.n_trials && analysis.trials[0].is_past_oom);
    const bool is_page_alone = a->page_path && !strcmp(a->page_path, "-");
    bool is_written = true;
    int status = a->page_path ? plim_cli_trace_page_write(a->page_path, &whole) : PLIM_EXIT_YES;
    if (status == PLIM_EXIT_YES && !is_page_alone && a->is_json)
        is_written = plim_report_trace_json(stdout, &whole);
    else if (status == PLIM_EXIT_YES && !is_page_alone)
        plim_report_trace_text(stdout, &whole, &style);
    plim_trace_analysis_done(&analysis);
    if (status == PLIM_EXIT_YES && (!is_written || !plim_cli_flush()))
        status = PLIM_EXIT_INTERNAL;
    return status != PLIM_EXIT_YES || is_yes ? status : PLIM_EXIT_NO;
}

static int show_changes(const struct arguments *a, struct plim_trace_compared *compared)
{
    const struct plim_style style = style_of(a);
    const struct plim_trace_side sides[2] = { { compared->answers[0].trace, compared->answers[0].analysis },
                                              { compared->answers[1].trace, compared->answers[1].analysis } };
    struct plim_error err = { 0 };
    bool is_written = true;
    if (plim_trace_compare(sides, PLIM_TRACE_AT_PEAK, &compared->peak, &err) < 0 ||
        plim_trace_compare(sides, PLIM_TRACE_AT_END, &compared->end, &err) < 0)
        return plim_cli_fail(&err);
    if (a->is_json)
        is_written = plim_report_trace_compared_json(stdout, compared);
    else
        plim_report_trace_compared_text(stdout, compared, &style);
    return is_written && plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}

static int compare(const struct arguments *a, struct plim_memory_trace traces[2])
{
    struct plim_trace_analysis analyses[2];
    struct plim_trace_compared compared;
    int result = analyse(a, a->path, &traces[0], &analyses[0], &compared.answers[0]);
    if (result != PLIM_EXIT_YES)
        return result;
    result = analyse(a, a->second_path, &traces[1], &analyses[1], &compared.answers[1]);
    if (result == PLIM_EXIT_YES) {
        result = show_changes(a, &compared);
        plim_trace_analysis_done(&analyses[1]);
    }
    plim_trace_analysis_done(&analyses[0]);
    return result;
}

/* Of two snapshots; the first is open. */
static int open_second(struct arguments *a, struct plim_memory_trace traces[2])
{
    struct plim_error err = { 0 };
    if (plim_snapshot_open(a->second_path, &traces[1], &err) < 0)
        return plim_cli_fail(&err);
    a->question.has_no_trials = true;
    const int status = compare(a, traces);
    plim_snapshot_done(&traces[1]);
    return status;
}

/* A recording is shown; what it takes under other conditions is a question for `fit`. */
static int show_step(const struct arguments *a)
{
    const struct plim_style style = style_of(a);
    if (a->second_path || a->page_path || a->device >= 0 || a->question.settings || a->question.capacity_bytes)
        return plim_cli_usage("'plimsoll fit run.step --alloc-conf SETTINGS' replays it",
                              "a recorded step is shown alone and without other options");
    return plim_cli_step(a->path, a->is_json, &style);
}

static int run(int argc, char **argv)
{
    struct arguments a = { .device = -1 };
    struct plim_memory_trace traces[2];
    struct plim_error err = { 0 };
    if (plim_trace_is_recording(argc, argv))
        return plim_trace_record(argc, argv);
    const int result = parse(argc, argv, &a);
    if (result != PLIM_EXIT_YES)
        return result;
    if (a.is_help)
        return plim_help_command(stdout, &plim_cli_trace);
    if (plim_cli_is_step(a.path))
        return show_step(&a);
    if (a.are_ranks || a.n_paths > 2) {
        const struct plim_style style = style_of(&a);
        return plim_cli_trace_ranks(a.paths, a.n_paths, a.device, a.is_json, &style);
    }
    if (plim_snapshot_open(a.path, &traces[0], &err) < 0)
        return plim_cli_fail(&err);
    const int status = a.second_path ? open_second(&a, traces) : answer(&a, &traces[0]);
    plim_snapshot_done(&traces[0]);
    return status;
}

const struct plim_cli_command plim_cli_trace = {
    .name = "trace",
    .arguments = "[OPTIONS] SNAPSHOT... | --record FILE -- COMMAND...",
    .summary = "what a snapshot of PyTorch's memory shows, and which setting helps",
    .examples = "  plimsoll trace snapshot.pickle\n"
                "  plimsoll trace snapshot.pickle --replay expandable_segments:True\n"
                "  plimsoll trace snapshot.pickle --capacity 16GiB --json\n"
                "  plimsoll trace snapshot.pickle --html memory.html\n"
                "  plimsoll trace before.pickle after.pickle\n"
                "  plimsoll trace rank0.pickle rank1.pickle rank2.pickle rank3.pickle\n"
                "  plimsoll trace --record run.step -- python3 train.py\n",
    .run = run,
    .options = list_options,
};

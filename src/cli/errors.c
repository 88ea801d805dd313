/* SPDX-License-Identifier: MIT */
/* plimsoll errors: the knowledge base; by name, by words, or by a message as it was printed. */
#include "report/errors.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "diagnose/diagnose.h"
#include "diagnose/scan/patterns/pattern.h"
#include "report/print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum option { OPTION_JSON, OPTION_COLOR, OPTION_HELP, N_OPTIONS };

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_JSON] = { "--json", "", NULL, "answer as JSON (plimsoll.errors/1)" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: on a terminal)" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

struct arguments {
    char query[PLIM_MAX_QUERY_BYTES];
    size_t length;
    const char *color;
    bool is_json, is_help, is_stdin;
};

static int usage(const char *name) { return plim_help_unknown_option(&plim_cli_errors, name); }

/* What does not fit is left out: the beginning of a message tells it. */
static void add_words(struct arguments *a, const char *text, size_t size)
{
    size_t room = sizeof a->query - 1 - a->length;
    if (a->length && room) {
        a->query[a->length++] = ' ';
        room--;
    }
    size_t n = size < room ? size : room;
    memcpy(a->query + a->length, text, n);
    a->length += n;
}

static int parse(int argc, char **argv, struct arguments *a)
{
    bool is_words = false;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (is_words || (argv[i][0] != '-' && argv[i][0] != '\0'))
            add_words(a, argv[i], strlen(argv[i]));
        else if (!strcmp(argv[i], "--"))
            is_words = true;
        else if (!strcmp(argv[i], "-"))
            a->is_stdin = true;
        else if (plim_text_has_word(rows[OPTION_JSON].names, argv[i]))
            a->is_json = true;
        else if (plim_text_has_word(rows[OPTION_HELP].names, argv[i]))
            a->is_help = true;
        else if ((value = plim_cli_value(argc, argv, &i, rows[OPTION_COLOR].names)))
            a->color = value;
        else if (argv[i][0])
            return usage(argv[i]);
    }
    if (a->color && !plim_text_has_word("auto always never", a->color))
        return plim_cli_usage("write auto, always or never", "invalid value '%s' for --color", a->color);
    return PLIM_EXIT_YES;
}

static void read_stdin(struct arguments *a)
{
    char piece[4096];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, stdin)) > 0)
        if (a->length + 1 < sizeof a->query)
            add_words(a, piece, n);
}

/* One line, without blanks at both sides. */
static void trim(struct arguments *a)
{
    static const char blank[] = " \t\r\n";
    for (char *c = a->query; (c = strpbrk(c, blank + 1)) != NULL;)
        *c = ' ';
    size_t begin = strspn(a->query, blank);
    memmove(a->query, a->query + begin, strlen(a->query + begin) + 1);
    a->length = strlen(a->query);
    while (a->length && strchr(blank, a->query[a->length - 1]))
        a->query[--a->length] = '\0';
}

/* What the scanner makes of the query, as if it were a log; false when it knows nothing of it. */
static bool recognise(const char *query, size_t length, struct plim_knowledge_entry *ret_entry)
{
    struct plim_diagnose *diagnose = plim_diagnose_new();
    bool is_known = false;
    if (!diagnose)
        return false;
    plim_diagnose_feed(diagnose, query, length);
    plim_diagnose_feed(diagnose, "\n", 1);
    const struct plim_diagnosis *diagnosis = plim_diagnose_end(diagnose);
    if (diagnosis && diagnosis->n_findings > 0 && !diagnosis->findings[0].pattern->is_said)
        is_known = plim_knowledge_for(diagnosis->findings[0].pattern->id, PLIM_CAUSE_UNKNOWN, ret_entry);
    plim_diagnose_free(diagnose);
    return is_known;
}

/* First, and once. */
static size_t put_first(struct plim_search_result *hits, size_t n, const struct plim_knowledge_entry *entry)
{
    size_t at = 0;
    while (at < n && strcmp(hits[at].entry.id, entry->id) != 0)
        at++;
    if (at == n && n < PLIM_MAX_SEARCH_RESULTS)
        n++;
    else if (at == n)
        at--;
    memmove(hits + 1, hits, at * sizeof *hits);
    hits[0] = (struct plim_search_result){ .entry = *entry };
    return n;
}

/* One entry stands out: named, recognised, or far before the next. */
static bool is_clear(const struct plim_errors_found *found)
{
    return found->n == 1 || found->is_recognised || (found->n && found->hits[0].is_phrase) ||
           (found->n > 1 && found->hits[0].score >= 2 * found->hits[1].score);
}

static int answer(const struct arguments *a, const struct plim_errors_found *found)
{
    struct plim_style style = { .has_colour = plim_cli_has_colour(STDOUT_FILENO, a->color) };
    if (a->is_json) {
        if (!plim_report_errors_json(stdout, found))
            return PLIM_EXIT_INTERNAL;
    } else if (found->n == 0) {
        plim_print(stderr, "plimsoll: no entry has these words\nhint: 'plimsoll errors' lists all; 'plimsoll explain' "
                           "reads a whole log\n");
    } else if (found->query && !found->is_recognised && !found->hits[0].is_phrase && found->hits[0].is_weak) {
        plim_report_errors_near(stdout, found, &style);
    } else if (found->query && is_clear(found)) {
        plim_report_errors_entry(stdout, found, &style);
    } else {
        plim_report_errors_list(stdout, found, &style);
    }
    return !plim_cli_flush() ? PLIM_EXIT_INTERNAL : found->n ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}

static int list_all(const struct arguments *a)
{
    const size_t n = plim_knowledge_size();
    struct plim_search_result *hits = plim_alloc(n, sizeof *hits);
    if (!hits)
        return PLIM_EXIT_INTERNAL;
    for (size_t i = 0; i < n; i++)
        hits[i].entry = plim_knowledge_entry(i);
    int status = answer(a, &(struct plim_errors_found){ .hits = hits, .n = n });
    plim_free(hits);
    return status;
}

static int run(int argc, char **argv)
{
    static struct arguments a;
    struct plim_search_result hits[PLIM_MAX_SEARCH_RESULTS];
    struct plim_errors_found found = { .query = a.query, .hits = hits };
    struct plim_knowledge_entry entry;
    memset(&a, 0, sizeof a); /* not the words of an earlier run: fuzz_cli runs many */
    int status = parse(argc, argv, &a);
    if (status != PLIM_EXIT_YES)
        return status;
    if (a.is_help)
        return plim_help_command(stdout, &plim_cli_errors);
    bool is_asked = a.length > 0 || a.is_stdin;
    if (a.is_stdin)
        read_stdin(&a);
    a.query[a.length] = '\0';
    if (!is_asked)
        return list_all(&a);
    found.is_recognised = recognise(a.query, a.length, &entry); /* with the line ends that a log has */
    trim(&a);
    found.is_recognised = plim_knowledge_by_id(a.query, &entry) || found.is_recognised;
    found.n = plim_knowledge_search(a.query, hits);
    if (found.is_recognised)
        found.n = put_first(hits, found.n, &entry);
    return answer(&a, &found);
}

const struct plim_cli_command plim_cli_errors = {
    .name = "errors",
    .arguments = "[OPTIONS] [ID | WORDS... | MESSAGE | -]",
    .summary = "what a memory error means, what to do, and what does not help",
    .examples = "  plimsoll errors\n"
                "  plimsoll errors \"No available memory for the cache blocks\"\n"
                "  plimsoll errors exit code 137\n",
    .run = run,
    .options = list_options,
};

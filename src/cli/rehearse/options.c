/* SPDX-License-Identifier: MIT */
#include "cli/rehearse/options.h"

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 100 };

enum option {
    OPTION_CARD,
    OPTION_UNTIL,
    OPTION_TIMEOUT,
    OPTION_FIND,
    OPTION_VALUES,
    OPTION_TOKENS,
    OPTION_SCHEDULE,
    OPTION_RECORD,
    OPTION_VARY,
    OPTION_RECEIPT,
    OPTION_LOG,
    OPTION_JSON,
    OPTION_GATE,
    OPTION_ACCEPT_GUESS,
    OPTION_QUIET,
    OPTION_HELP,
    N_OPTIONS
};

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_CARD] = { "--card", "", "NAME",
                      "a card of the catalogue, '2x NAME', or a size like 7.5GiB; once for each" },
    [OPTION_UNTIL] = { "--until", "", "WHEN",
                       "exit, ready (takes connections, nothing new for 2 s), stable[:SECONDS] (no new peak) or "
                       "steps:N (of an optimizer, or iterations); default: exit, but Plimsoll stops a server once its "
                       "memory is stable for 5 s" },
    [OPTION_TIMEOUT] = { "--timeout", "", "SECONDS", "stop the program after this time: exit status 124" },
    [OPTION_FIND] = { "--find", "", "N=A..B", "the largest N that never runs short of memory: {} in the command is N" },
    [OPTION_VALUES] = { "--values", "", "HOW",
                        "what a guess is, a value on the card that is not known: zero (the default; also: "
                        "shadow), max (zero, and a selection selects all), both (two runs, and the larger peak), or "
                        "off (nothing that was written or computed is kept)" },
    [OPTION_TOKENS] = { "--tokens", "", "N",
                        "an answer that transformers' generate() samples ends after N tokens (default: at the "
                        "program's "
                        "own limit)" },
    [OPTION_SCHEDULE] = { "--schedule", "", "WHEN",
                          "the work of streams completes at once (eager, the default), when the program waits for it "
                          "(lazy: memory held for another stream is held longer), or both: two runs, and the peak is "
                          "a band" },
    [OPTION_RECORD] = { "--record", "", "FILE",
                        "write there what the program's PyTorch asked its allocator for, as a step that 'plimsoll fit' "
                        "reads; with --until steps:N the first N steps" },
    [OPTION_VARY] = { "--vary", "", "B=2,3,4",
                      "with --record: run the command with several numbers for its {B} and make one step of them, "
                      "which answers for other numbers; once for each variable" },
    [OPTION_RECEIPT] = { "--receipt", "", "FILE", "write the receipt there as JSON (plimsoll.receipt/1)" },
    [OPTION_LOG] = { "--log", "", "FILE", "write the output of the program there" },
    [OPTION_JSON] = { "--json", "", NULL, "the receipt as JSON on standard output; needs --log" },
    [OPTION_GATE] = { "--gate", "", NULL,
                      "exit status 0 only when it ended well on the virtual card and its path was neither guessed nor "
                      "incomplete; else 1, or 126 when a static CUDA runtime found no card" },
    [OPTION_ACCEPT_GUESS] = { "--accept-guess", "", NULL, "a guessed or incomplete path passes --gate" },
    [OPTION_QUIET] = { "-q --quiet", "", NULL, "no receipt on standard error" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

void plim_rehearse_list(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

static int usage(const char *what, const char *value)
{
    plim_cli_usage("plimsoll rehearse --card 'RTX 4060' -- COMMAND...; --help lists the options", what, value);
    return PLIM_EXIT_OURS;
}

/* --- options --- */

/* CUDA runs on NVIDIA's cards only; a size is any of them. */
static int refuse_others(const struct plim_machine *machine)
{
    struct plim_error error = { 0 };
    for (uint32_t i = 0; i < machine->n_cards && !error.code; i++)
        if (machine->card[i].vendor != PLIM_VENDOR_NVIDIA && machine->card[i].vendor != PLIM_VENDOR_UNKNOWN) {
            plim_fail(&error, PLIM_E_USAGE, PLIM_NO_OFFSET,
                      "a rehearsal runs CUDA programs, and there is no CUDA on '%s'", machine->card[i].name);
            plim_error_hint(
                &error, "'plimsoll fit' knows this card; to rehearse on one of NVIDIA's of its size: --card %.0fGiB",
                (double)machine->card[i].total_bytes / (double)PLIM_GIB);
        }
    if (error.code)
        plim_cli_fail(&error);
    return error.code ? PLIM_EXIT_OURS : 0;
}

static int add_card(struct plim_rehearse_options *a, const char *text)
{
    struct plim_error error = { 0 };
    const size_t n = strlen(a->card);
    if (plim_cli_add_cards(text, &a->machine, &a->notes, &error) < 0) {
        plim_cli_fail(&error);
        return PLIM_EXIT_OURS;
    }
    snprintf(a->card + n, sizeof a->card - n, "%s%s", n ? ", " : "", text);
    return refuse_others(&a->machine);
}

static bool read_seconds(const char *text, double *ret_seconds)
{
    const char *end;
    const double seconds = plim_decimal(text, &end);
    if (end == text || (*end && strcmp(end, "s") != 0) || !(seconds > 0) || seconds > 1e9)
        return false;
    *ret_seconds = seconds;
    return true;
}

static int read_until(struct plim_rehearse_options *a, const char *text)
{
    struct plim_stop_condition *stop = &a->launch.stop;
    char *end;
    if (!strcmp(text, "exit"))
        stop->until = PLIM_UNTIL_EXIT;
    else if (!strcmp(text, "ready"))
        stop->until = PLIM_UNTIL_READY;
    else if (!strcmp(text, "stable") || (!strncmp(text, "stable:", 7) && read_seconds(text + 7, &stop->stable_s)))
        stop->until = PLIM_UNTIL_STABLE;
    else if (!strncmp(text, "steps:", 6) && text[6] >= '1' && text[6] <= '9') {
        const unsigned long n = strtoul(text + 6, &end, 10);
        if (*end || n > MAX_STEPS)
            return usage("invalid value '%s' for --until: steps:N takes 1 to 100", text);
        stop->until = PLIM_UNTIL_STEPS;
        stop->n_steps = (uint32_t)n;
    } else
        return usage("invalid value '%s' for --until: expected exit, ready, stable[:SECONDS] or steps:N", text);
    return 0;
}

static int read_tokens(struct plim_rehearse_options *a, const char *text)
{
    enum { MOST = 1 << 30 };
    char *end;
    const unsigned long n = text[0] >= '1' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (n == 0 || *end || n > MOST)
        return usage("invalid value '%s' for --tokens: expected a number above 0", text);
    a->launch.tokens = text;
    return 0;
}

static int read_find(struct plim_rehearse_options *a, const char *text)
{
    struct plim_error error = { 0 };
    a->is_search = true;
    if (plim_find_parse(text, &a->find, &error) == 0)
        return 0;
    plim_cli_fail(&error);
    return PLIM_EXIT_OURS;
}

static int read_vary(struct plim_rehearse_options *a, const char *text)
{
    struct plim_error error = { 0 };
    if (plim_vary_parse(text, &a->vary, &error) == 0)
        return 0;
    plim_cli_fail(&error);
    return PLIM_EXIT_OURS;
}

static int set(struct plim_rehearse_options *a, enum option option, const char *value)
{
    switch (option) {
    case OPTION_CARD:
        return add_card(a, value);
    case OPTION_UNTIL:
        return read_until(a, value);
    case OPTION_TIMEOUT:
        return read_seconds(value, &a->launch.stop.timeout_s)
                   ? 0
                   : usage("invalid value '%s' for --timeout: expected a number of seconds above 0", value);
    case OPTION_FIND:
        return read_find(a, value);
    case OPTION_VALUES:
        if (!plim_text_has_word("zero shadow max both off", value))
            return usage("invalid value '%s' for --values: expected zero, max, both or off", value);
        a->is_both_values = !strcmp(value, "both");
        a->launch.values = a->is_both_values || !strcmp(value, "shadow") ? "zero" : value;
        return 0;
    case OPTION_TOKENS:
        return read_tokens(a, value);
    case OPTION_SCHEDULE:
        if (strcmp(value, "eager") != 0 && strcmp(value, "lazy") != 0 && strcmp(value, "both") != 0)
            return usage("invalid value '%s' for --schedule: expected eager, lazy or both", value);
        a->is_both = !strcmp(value, "both");
        a->launch.schedule = a->is_both ? "eager" : value;
        return 0;
    case OPTION_VARY:
        return read_vary(a, value);
    case OPTION_RECORD:
        a->record_path = value;
        return 0;
    case OPTION_RECEIPT:
        a->receipt_path = value;
        return 0;
    case OPTION_LOG:
        a->launch.log = value;
        return 0;
    case OPTION_JSON:
        a->is_json = true;
        return 0;
    case OPTION_GATE:
        a->is_gate = true;
        return 0;
    case OPTION_ACCEPT_GUESS:
        a->accepts_guess = true;
        return 0;
    case OPTION_QUIET:
        a->is_quiet = true;
        return 0;
    default:
        a->is_help = true;
        return 0;
    }
}

static enum option option_named(const char *name)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (plim_text_has_word(rows[i].names, name))
            return (enum option)i;
    return N_OPTIONS;
}

/* --vary: recordings one after the other, of which only the step is kept. */
static int check_vary(const struct plim_rehearse_options *a)
{
    const char *name = plim_vary_without_place(&a->vary, a->launch.arguments);
    if (!a->record_path)
        return usage("--vary makes a step of several recordings: it needs --record %s", "FILE");
    if (a->is_search || a->is_both || a->is_both_values || a->is_gate || a->is_json || a->receipt_path)
        return usage("--vary makes several runs: not with --find, --gate, --json, --receipt or %s", "both");
    return name ? usage("--vary: the command has no {%s} where the number goes", name) : 0;
}

/* Options that do not go together. */
static int check_together(const struct plim_rehearse_options *a)
{
    if (a->vary.n_variables)
        return check_vary(a);
    if (a->is_search && (a->is_both || a->is_both_values))
        return usage("--find runs the command once for each number: not with %s", "both");
    if (a->is_search && a->record_path)
        return usage("--record is of one run: not with %s", "--find");
    if (a->is_both && a->is_both_values)
        return usage("--schedule both and --values both: one of them at a time%s", "");
    if (a->is_search && !plim_find_has_place(a->launch.arguments))
        return usage("--find: the command has no {} where the number goes%s", "");
    return a->is_json && !a->launch.log ? usage("--json needs --log FILE: standard output belongs to the program%s", "")
                                        : 0;
}

/* --name VALUE and --name=VALUE, up to -- or the first word that is not an option. */
int plim_rehearse_parse(int argc, char **argv, struct plim_rehearse_options *ret_options)
{
    struct plim_rehearse_options *a = ret_options;
    int i = 1;
    a->launch.stop.stable_s = 5;
    for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        char name[32];
        const char *equals = strchr(argv[i], '=');
        const size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        snprintf(name, sizeof name, "%.*s", (int)length, argv[i]);
        const enum option option = length < sizeof name ? option_named(name) : N_OPTIONS;
        if (option == N_OPTIONS || (equals && !rows[option].value))
            return usage("unknown option '%s'", argv[i]);
        if (rows[option].value && !equals && i + 1 == argc)
            return usage("%s needs a value", argv[i]);
        const char *value = !rows[option].value ? "" : equals ? equals + 1 : argv[++i];
        int status = set(a, option, value);
        if (status)
            return status;
    }
    if (i < argc && !strcmp(argv[i], "--"))
        i++;
    a->launch.arguments = argv + i;
    if (a->is_help)
        return 0;
    if (i == argc)
        return usage("no command to rehearse%s", "");
    if (a->machine.n_cards == 0)
        return usage("--card NAME is missing%s", "");
    return check_together(a);
}

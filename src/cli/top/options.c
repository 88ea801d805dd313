/* SPDX-License-Identifier: MIT */
#include "cli/top/options.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/help.h"
#include "watch/watch.h"

#include <string.h>

enum {
    DEFAULT_INTERVAL_MS = 1000,
    MIN_INTERVAL_MS = 500, /* drivers update their figures a few times a second, and asking costs them time */
    MAX_INTERVAL_S = 3600,
};

enum option {
    OPTION_INTERVAL,
    OPTION_CARD,
    OPTION_USER,
    OPTION_IDLE_AFTER,
    OPTION_READONLY,
    OPTION_ASCII,
    OPTION_COLOR,
    OPTION_SYSROOT,
    OPTION_HELP,
    N_OPTIONS
};

static const struct plim_option_help rows[N_OPTIONS] = {
    [OPTION_INTERVAL] = { "-d --interval", "", "SECONDS",
                          "time between two looks (default: 1, and 5 while nothing changes; at least 0.5)" },
    [OPTION_CARD] = { "--card", "", "CARD",
                      "show this card only: gpu1, 1, its PCI address, or the beginning of its UUID" },
    [OPTION_USER] = { "-u --user", "", "NAME", "show processes of this user only, by name or number" },
    [OPTION_IDLE_AFTER] = { "--idle-after", "", "TIME", "idle for so long may be stale: 90s, 10m, 2h (default: 10m)" },
    [OPTION_READONLY] = { "--readonly", "", NULL, "no key sends a signal" },
    [OPTION_ASCII] = { "--ascii", "", NULL, "bars and lines in ASCII (default where the locale is not UTF-8)" },
    [OPTION_COLOR] = { "--color", "", "auto|always|never", "colour (default: as the terminal and NO_COLOR say)" },
    [OPTION_SYSROOT] = { "--sysroot", "", "DIR", "read /proc and /sys below this directory" },
    [OPTION_HELP] = { "-h --help", "", NULL, "show this help" },
};

void plim_top_list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS, sizeof *rows };
}

static int read_interval(const char *text, struct plim_top_options *o)
{
    const char *end;
    const double seconds = plim_decimal(text, &end);
    if (end == text || (strcmp(end, "") != 0 && strcmp(end, "s") != 0) || seconds * 1000 < MIN_INTERVAL_MS ||
        seconds > MAX_INTERVAL_S)
        return plim_cli_usage("expected seconds, from 0.5 to 3600", "invalid value '%s' for --interval", text);
    o->interval_ms = (uint32_t)(seconds * 1000);
    o->has_interval = true;
    return PLIM_EXIT_YES;
}

static int read_value(enum option option, const char *value, struct plim_top_options *o)
{
    switch (option) {
    case OPTION_INTERVAL:
        return read_interval(value, o);
    case OPTION_CARD:
        o->card = value;
        break;
    case OPTION_USER:
        o->user = value;
        break;
    case OPTION_IDLE_AFTER:
        if (!plim_span_parse(value, &o->idle_after_s) || o->idle_after_s < 1)
            return plim_cli_usage("expected a time: 90s, 10m, 2h", "invalid value '%s' for --idle-after", value);
        break;
    case OPTION_COLOR:
        if (!plim_text_has_word("auto always never", value))
            return plim_cli_usage("expected auto, always or never", "invalid value '%s' for --color", value);
        o->color = value;
        break;
    default:
        o->sysroot = value;
    }
    return PLIM_EXIT_YES;
}

static int fail_option(const struct plim_cli_command *command, const char *word)
{
    static const struct {
        const char *name, *hint;
    } others[] = { { "--once", "'plimsoll ps' lists the same once" },
                   { "--json", "'plimsoll ps --json' has the same for programs" },
                   { "--plain", "'plimsoll ps --plain' has the same for scripts" } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(word, others[i].name))
            return plim_cli_usage(others[i].hint, "'plimsoll top' draws on a terminal until it is ended");
    if (word[0] != '-')
        return plim_cli_usage("'plimsoll top --help' lists the options", "unexpected argument '%s'", word);
    return plim_help_unknown_option(command, word);
}

/* The option that has a value and is spelled by argv[*i]; then *ret_value is the value. */
static int read_option(const struct plim_cli_command *command, int argc, char **argv, int *i,
                       struct plim_top_options *o)
{
    for (int option = 0; option < N_OPTIONS; option++) {
        const char *value = rows[option].value ? plim_cli_value(argc, argv, i, rows[option].names) : NULL;
        if (value)
            return read_value((enum option)option, value, o);
        if (rows[option].value && plim_text_has_word(rows[option].names, argv[*i]))
            return plim_cli_usage("'plimsoll top --help' lists the options", "%s needs a value", argv[*i]);
    }
    return fail_option(command, argv[*i]);
}

int plim_top_options_parse(const struct plim_cli_command *command, int argc, char **argv,
                           struct plim_top_options *ret_options)
{
    struct plim_top_options *o = ret_options;
    *o = (struct plim_top_options){ .interval_ms = DEFAULT_INTERVAL_MS, .idle_after_s = PLIM_WATCH_IDLE_AFTER_S };
    for (int i = 1; i < argc; i++) {
        int status = PLIM_EXIT_YES;
        if (plim_text_has_word(rows[OPTION_READONLY].names, argv[i]))
            o->is_readonly = true;
        else if (plim_text_has_word(rows[OPTION_ASCII].names, argv[i]))
            o->is_ascii = true;
        else if (plim_text_has_word(rows[OPTION_HELP].names, argv[i]))
            o->is_help = true;
        else
            status = read_option(command, argc, argv, &i, o);
        if (status != PLIM_EXIT_YES)
            return status;
    }
    return PLIM_EXIT_YES;
}

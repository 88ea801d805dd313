/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include "base/text.h"
#include "report/columns.h"
#include "report/print.h"

#include <string.h>

enum { HELP_COLUMN = 30 };

static const char usage[] = "usage: plimsoll fit MODEL [--card NAME] [options]\n"
                            "       plimsoll fit [--card NAME] -- llama-server -m MODEL.gguf ...\n"
                            "       plimsoll cards [QUERY]\n"
                            "       plimsoll models [QUERY]\n"
                            "       plimsoll engines\n"
                            "       plimsoll check BILL LOG\n"
                            "       plimsoll hollow MODEL -o OUT\n"
                            "       plimsoll rehearse --card NAME -- COMMAND...\n"
                            "       plimsoll ps\n"
                            "       plimsoll top\n"
                            "       plimsoll free [--stale] [PID...]\n"
                            "       plimsoll explain [LOG|-]\n"
                            "       plimsoll trace SNAPSHOT\n"
                            "       plimsoll sweep FILE\n"
                            "       plimsoll errors [MESSAGE]\n";

void plim_help_short(FILE *out)
{
    plim_print_lines(out, usage, 0);
    plim_print(out, "'plimsoll --help' lists the commands.\n");
}

void plim_help_main(FILE *out, const struct plim_cli_command *const *commands)
{
    plim_print(out, "plimsoll says what a model will take and what a card can carry, in bytes.\n\n");
    plim_print_lines(out, usage, 0);
    plim_print(out, "\ncommands:\n");
    for (const struct plim_cli_command *const *c = commands; *c; c++)
        plim_print(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
    plim_print(out, "\n'plimsoll COMMAND --help' lists the options of a command.\n"
                    "exit status: 0 yes, 1 no or unknown, 2 usage, 3 unreadable input, 4 no driver,\n"
                    "5 no answer from a server, 70 internal error\n");
}

/* "-c, --ctx-size, --no-x" from the lists of a row. */
void plim_help_names(const struct plim_option_help *row, char *buffer, size_t size)
{
    size_t n = 0;
    buffer[0] = '\0';
    for (int k = 0; k < 2; k++) {
        const char *list = k ? row->negative : row->names;
        while (*list && n + 2 < size) {
            size_t length = strcspn(list, " ");
            n += (size_t)snprintf(buffer + n, size - n, "%s%.*s", n ? ", " : "", (int)length, list);
            list += length + strspn(list + length, " ");
        }
    }
}

static void print_row(FILE *out, const struct plim_option_help *row)
{
    char names[200];
    plim_help_names(row, names, sizeof names);
    if (!*names) /* a setting that no option of this client has */
        return;
    int column = plim_print(out, "  %s%s%s", names, row->value ? " " : "", row->value ? row->value : "");
    if (column >= HELP_COLUMN) {
        plim_print(out, "\n");
        column = 0;
    }
    plim_print(out, "%*s", HELP_COLUMN - column, "");
    plim_print_wrapped(out, row->help, HELP_COLUMN, HELP_COLUMN);
}

int plim_help_command(FILE *out, const struct plim_cli_command *command)
{
    struct plim_cli_options groups[PLIM_CLI_MAX_GROUPS] = { 0 };
    plim_print(out, "usage: plimsoll %s %s\n\n", command->name, command->arguments);
    plim_print_wrapped(out, command->summary, 0, 0);
    command->options(groups);
    for (int g = 0; g < PLIM_CLI_MAX_GROUPS && groups[g].heading; g++) {
        plim_print(out, "\n%s:\n", groups[g].heading);
        for (size_t i = 0; i < groups[g].n; i++)
            print_row(out, plim_cli_option_at(&groups[g], i));
    }
    plim_print(out, "\nexamples:\n");
    plim_print_lines(out, command->examples, 0);
    return plim_cli_flush() ? PLIM_EXIT_YES : PLIM_EXIT_INTERNAL;
}

/* The option of a row that `name` may be a slip of; false when it is near to none. */
static bool find_near(const struct plim_option_help *row, const char *name, char *option, size_t size)
{
    char names[200];
    plim_help_names(row, names, sizeof names);
    for (const char *start = names; *start; start += strspn(start, ", ")) {
        const size_t length = strcspn(start, ",");
        snprintf(option, size, "%.*s", (int)length, start);
        if (length > 3 && plim_text_is_near(name, option)) /* one letter is near to every other */
            return true;
        start += length;
    }
    return false;
}

static bool find_meant(const struct plim_cli_command *command, const char *name, char *option, size_t size)
{
    struct plim_cli_options groups[PLIM_CLI_MAX_GROUPS] = { 0 };
    command->options(groups);
    for (int g = 0; g < PLIM_CLI_MAX_GROUPS && groups[g].heading; g++)
        for (size_t i = 0; i < groups[g].n; i++)
            if (find_near(plim_cli_option_at(&groups[g], i), name, option, size))
                return true;
    return false;
}

int plim_help_unknown_option(const struct plim_cli_command *command, const char *name)
{
    char hint[120], option[64];
    if (find_meant(command, name, option, sizeof option))
        snprintf(hint, sizeof hint, "did you mean '%s'?", option);
    else
        snprintf(hint, sizeof hint, "'plimsoll %s --help' lists the options", command->name);
    return plim_cli_usage(hint, "unknown option '%s'", name);
}

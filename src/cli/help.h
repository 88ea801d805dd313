/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_HELP_H
#define PLIMSOLL_CLI_HELP_H

/* --help, the option sections of the manual and the completions of shells: all from the tables of options. */

#include "cli/cli.h"

#include <stdio.h>

void plim_help_short(FILE *out);
void plim_help_main(FILE *out, const struct plim_cli_command *const *commands); /* the last is NULL */
/* Returns an exit status. */
int plim_help_command(FILE *out, const struct plim_cli_command *command);

/* Say that the command has no such option, and which one may be meant; returns the exit status of a usage error. */
int plim_help_unknown_option(const struct plim_cli_command *command, const char *name);

/* "-c, --ctx-size" from the lists of a row. */
void plim_help_names(const struct plim_option_help *row, char *buffer, size_t size);

/* what: "man" (the options of a command, for scdoc), "bash", "zsh" or "fish". Returns an exit status. */
int plim_help_generate(FILE *out, const struct plim_cli_command *const *commands, const char *what,
                       const char *command);

#endif

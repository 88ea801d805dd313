/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_CLI_H
#define PLIMSOLL_CLI_CLI_H

/*
 * The program: one file per command. Only here is anything printed, the environment read, or an exit status chosen.
 */

#include "base/error.h"
#include "plimsoll/option.h"

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses (plimsoll(1) lists them); those of errors come from plim_error_exit_status(). */
enum { PLIM_EXIT_YES = 0, PLIM_EXIT_NO = 1, PLIM_EXIT_USAGE = 2, PLIM_EXIT_INTERNAL = 70 };

/* Options under one heading: --help, the manual and the completions are made of them. */
struct plim_cli_options {
    const char *heading;
    const struct plim_option_help *first;
    size_t n, stride_bytes; /* from one row to the next: rows may be part of something larger */
};

static inline const struct plim_option_help *plim_cli_option_at(const struct plim_cli_options *options, size_t i)
{
    return (const struct plim_option_help *)((const char *)options->first + i * options->stride_bytes);
}

enum { PLIM_CLI_MAX_GROUPS = 3 };

struct plim_cli_command {
    const char *name;
    const char *arguments; /* "[OPTIONS] MODEL..." */
    const char *summary;
    const char *examples;              /* lines */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    void (*options)(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS]);
};

extern const struct plim_cli_command plim_cli_fit, plim_cli_explain, plim_cli_cards, plim_cli_check, plim_cli_hollow,
    plim_cli_rehearse, plim_cli_errors, plim_cli_engines, plim_cli_models, plim_cli_ps, plim_cli_free, plim_cli_top,
    plim_cli_trace, plim_cli_sweep;

/* Print an error once, with its hint, to stderr; returns the exit status. */
int plim_cli_fail(const struct plim_error *error);

/* Print "plimsoll: " and a usage error with a hint; returns 2. */
int plim_cli_usage(const char *hint, const char *format, ...) PLIM_PRINTF(2, 3);

/*
 * The value of the option with these names ("-o --output"), when argv[*i] is one of them: what follows its '=', or the
 * next word, which *i moves to. NULL: it is another option, or has no value.
 */
const char *plim_cli_value(int argc, char **argv, int *i, const char *names);

/* Colour on this stream: always, never, or (mode NULL, "auto") when it is a terminal and nothing speaks against it. */
bool plim_cli_has_colour(int fd, const char *mode);

/* The locale of the terminal is UTF-8. */
bool plim_cli_is_unicode(void);

/* True when all output has reached stdout; else an error is printed. */
bool plim_cli_flush(void);

#endif

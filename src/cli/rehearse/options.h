/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_REHEARSE_OPTIONS_H
#define PLIMSOLL_CLI_REHEARSE_OPTIONS_H

/* The command line of `plimsoll rehearse`. */

#include "cli/cli.h"
#include "cli/fit/machine.h"
#include "rehearse/find.h"
#include "rehearse/launch.h"
#include "rehearse/vary/design.h"

/* The exit statuses of a program that runs another are those of timeout(1) and env(1). */
enum { PLIM_EXIT_TIMEOUT = 124, PLIM_EXIT_OURS = 125, PLIM_EXIT_CANNOT_RUN = 126, PLIM_EXIT_NOT_FOUND = 127 };

struct plim_rehearse_options {
    struct plim_machine machine;
    struct plim_notes notes;
    struct plim_launch launch;
    struct plim_find find;
    struct plim_vary vary; /* of --record */
    const char *receipt_path, *record_path;
    char card[160];
    bool is_json, is_gate, accepts_guess, is_quiet, is_help, is_search;
    bool is_both, is_both_values; /* two runs: of the schedules, of the values */
};

/* 0, or an exit status: then the reason was printed. */
int plim_rehearse_parse(int argc, char **argv, struct plim_rehearse_options *ret_options);

void plim_rehearse_list(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS]);

#endif

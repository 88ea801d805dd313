/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TOP_OPTIONS_H
#define PLIMSOLL_CLI_TOP_OPTIONS_H

/* The options of `plimsoll top`. */

#include "cli/cli.h"

#include <stdint.h>

struct plim_top_options {
    uint32_t interval_ms;
    bool has_interval; /* given: it does not slow down when nothing changes */
    int64_t idle_after_s;
    const char *card, *user, *color, *sysroot; /* NULL: not given */
    bool is_ascii, is_readonly, is_help;
};

void plim_top_list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS]);

/* Returns an exit status. command: whose options they are. */
int plim_top_options_parse(const struct plim_cli_command *command, int argc, char **argv,
                           struct plim_top_options *ret_options);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TRACE_STEP_H
#define PLIMSOLL_CLI_TRACE_STEP_H

#include "report/report.h"

/* True for a file with the magic bytes of a recorded step. */
bool plim_cli_is_step(const char *path);

/* Show a recorded step; returns an exit status. */
int plim_cli_step(const char *path, bool is_json, const struct plim_style *style);

#endif

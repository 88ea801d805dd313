/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TRACE_RANKS_H
#define PLIMSOLL_CLI_TRACE_RANKS_H

/* Snapshots of the ranks of one job, beside each other. */

#include <stdbool.h>
#include <stddef.h>

struct plim_style;

/* device: of each; -1 for the one with the longest history. Returns an exit status. */
int plim_cli_trace_ranks(const char *const *paths, size_t n_paths, long device, bool is_json,
                         const struct plim_style *style);

#endif

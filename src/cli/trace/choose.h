/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TRACE_CHOOSE_H
#define PLIMSOLL_CLI_TRACE_CHOOSE_H

/* The device of a snapshot that is asked about. */

#include "trace/analysis.h"

/* device: -1 for the one with the longest history. Returns an exit status, with the reason said. */
PLIM_MUST_CHECK int plim_cli_trace_analyse(struct plim_memory_trace *trace, long device,
                                           const struct plim_trace_question *question,
                                           struct plim_trace_analysis *ret_analysis);

#endif

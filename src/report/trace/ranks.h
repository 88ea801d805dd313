/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TRACE_RANKS_H
#define PLIMSOLL_REPORT_TRACE_RANKS_H

/* The answer of `plimsoll trace` about the ranks of one job. */

#include "report/report.h"
#include "trace/ranks.h"

void plim_report_trace_ranks_text(FILE *out, const struct plim_trace_ranks *ranks, const struct plim_style *style);
/* plimsoll.trace/1. False: out of memory, or not written. */
bool plim_report_trace_ranks_json(FILE *out, const struct plim_trace_ranks *ranks);

#endif

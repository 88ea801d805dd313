/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_COMPARISON_H
#define PLIMSOLL_TRACE_COMPARISON_H

/*
 * Two snapshots beside each other: what each line of the program held in the one and in the other. A line is the same
 * when file, number and function are; what has moved in its file is another line.
 */

#include "trace/analysis.h"

struct plim_trace_side {
    const struct plim_memory_trace *trace;
    const struct plim_trace_analysis *analysis;
};

/* A line, and what it held: [0] in the first snapshot, [1] in the second. */
struct plim_trace_change {
    const char *file, *function; /* NULL: without a stack */
    uint32_t line;
    uint64_t bytes[2], n[2];
};

/* The lines of which the bytes differ, the largest difference first, and the sums of all others that differ. */
struct plim_trace_changes {
    struct plim_trace_change changes[PLIM_TRACE_MAX_SITES];
    size_t n_changes;
    uint64_t rest_bytes[2], n_rest_lines, n_equal_lines;
    uint64_t bytes[2]; /* of all lines */
};

enum plim_trace_moment { PLIM_TRACE_AT_PEAK, PLIM_TRACE_AT_END };

PLIM_MUST_CHECK int plim_trace_compare(const struct plim_trace_side sides[2], enum plim_trace_moment moment,
                                       struct plim_trace_changes *ret_changes, struct plim_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_RANKS_H
#define PLIMSOLL_TRACE_RANKS_H

/*
 * The snapshots of the ranks of one job beside each other: what each had, which of them decides whether the job fits,
 * and the lines of the program of which the bytes at the peak differ. Snapshots are read one after the other: only what
 * is said here of each stays in memory.
 */

#include "base/mem.h"
#include "trace/analysis.h"

struct plim_trace_rank {
    const char *path; /* the caller's */
    size_t device, n_entries;
    uint64_t peak_bytes; /* as requested */
    uint64_t allocated_peak_bytes, reserved_peak_bytes;
    uint64_t reserved_bytes, inactive_split_bytes; /* at the end */
    uint64_t asked_bytes;                          /* of the first request that failed */
    bool has_oom, is_met;                          /* is_met: the replay met every change of a segment */
};

/* A line of the program, and what it held at each rank's own peak. */
struct plim_trace_rank_line {
    const char *file, *function; /* NULL: without a stack */
    uint32_t line;
    const uint64_t *bytes;        /* [rank] */
    size_t least_rank, most_rank; /* the first of each */
    uint64_t least_bytes, most_bytes;
};

struct plim_trace_ranks {
    struct plim_trace_rank *ranks;
    size_t n_ranks;
    struct plim_trace_rank_row *rows; /* lines of ranks, until all are there */
    size_t n_rows, rows_room;
    struct plim_arena texts;
    /* Those of which the bytes differ, the largest difference first. */
    struct plim_trace_rank_line lines[PLIM_TRACE_MAX_SITES];
    size_t n_lines, n_rest_lines, n_equal_lines;
    size_t deciding; /* the rank that ran out of memory, else the one that reserved most */
};

PLIM_MUST_CHECK int plim_trace_ranks_open(size_t n_ranks, struct plim_trace_ranks *ret_ranks,
                                          struct plim_error *reterr);
/* The next rank: its snapshot may be closed afterwards. */
PLIM_MUST_CHECK int plim_trace_ranks_add(struct plim_trace_ranks *ranks, const char *path,
                                         const struct plim_memory_trace *trace,
                                         const struct plim_trace_analysis *analysis, struct plim_error *reterr);
/* Once, when all are there. */
PLIM_MUST_CHECK int plim_trace_ranks_compare(struct plim_trace_ranks *ranks, struct plim_error *reterr);
void plim_trace_ranks_done(struct plim_trace_ranks *ranks);

#endif

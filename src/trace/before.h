/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_BEFORE_H
#define PLIMSOLL_TRACE_BEFORE_H

/* What a device's allocator held before its trace begins: the end, walked back. */

#include "base/error.h"
#include "trace/live.h"
#include "trace/ranges.h"
#include "trace/trace.h"

struct plim_trace_before {
    struct plim_trace_live live; /* sorted; number: the block of the snapshot, UINT32_MAX if it ended in the trace */
    struct plim_trace_ranges ranges;
    size_t n_lost; /* entries that do not fit what follows them */
};

/* Fills in the pools of entries that have none, from the segments at the end. */
PLIM_MUST_CHECK int plim_trace_before_find(struct plim_memory_trace *trace, size_t device,
                                           struct plim_trace_before *ret_before, struct plim_error *reterr);
void plim_trace_before_done(struct plim_trace_before *before);

#endif

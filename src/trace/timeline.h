/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_TIMELINE_H
#define PLIMSOLL_TRACE_TIMELINE_H

/* The memory of a device over its history, in slices of so many entries. */

#include "trace/analysis.h"

enum { PLIM_TRACE_MAX_SLICES = 64 };

struct plim_trace_slice {
    size_t first_entry;
    uint64_t requested_bytes; /* the most that the program held, as it asked for it */
    uint64_t reserved_bytes;  /* the most that segments had */
};

struct plim_trace_timeline {
    struct plim_trace_slice slices[PLIM_TRACE_MAX_SLICES];
    size_t n_slices;        /* 0: there is no history */
    size_t peak_at, oom_at; /* slices; n_slices: memory did not run out */
    uint64_t most_reserved_bytes;
};

/* Of an analysis of that trace; one pass. */
void plim_trace_timeline_make(const struct plim_memory_trace *trace, const struct plim_trace_analysis *analysis,
                              struct plim_trace_timeline *ret_timeline);

/* What an entry adds to the memory that segments have; negative for what it takes from it. */
static inline int64_t plim_trace_reserved_change(const struct plim_trace_entry *entry)
{
    const int64_t bytes = entry->bytes > INT64_MAX ? INT64_MAX : (int64_t)entry->bytes;
    if (entry->action == PLIM_TRACE_SEGMENT_ALLOC || entry->action == PLIM_TRACE_SEGMENT_MAP)
        return bytes;
    return entry->action == PLIM_TRACE_SEGMENT_FREE || entry->action == PLIM_TRACE_SEGMENT_UNMAP ? -bytes : 0;
}

#endif

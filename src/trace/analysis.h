/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_ANALYSIS_H
#define PLIMSOLL_TRACE_ANALYSIS_H

/*
 * What a snapshot says of one device: the peak and who held it, what was there before, how much of the reserved memory
 * lies in pieces, how it ran out, and which settings would have got past that: each tried by a replay.
 */

#include "trace/growth/growth.h"
#include "trace/pieces/pieces.h"
#include "trace/step/told.h"

enum { PLIM_TRACE_MAX_SITES = 12, PLIM_TRACE_MAX_TRIALS = 16, PLIM_TRACE_SETTINGS_BYTES = 128 };

/* Allocations of one line of the program. */
struct plim_trace_site {
    uint32_t frame; /* PLIM_TRACE_NO_STACK: made before the recording began, or without a stack */
    uint64_t bytes; /* as requested */
    uint64_t n;
};

/* Memory at a moment: the sites that hold most of it, and the rest. */
struct plim_trace_holders {
    struct plim_trace_site sites[PLIM_TRACE_MAX_SITES];
    size_t n_sites;
    uint64_t rest_bytes, n_rest, n_rest_sites;
    uint64_t before_bytes, n_before; /* of all: held since before the recording began */
    uint64_t bytes, n;
};

struct plim_trace_oom {
    uint32_t entry;
    uint64_t asked_bytes, segment_bytes; /* the request, and what the driver was asked for */
    uint64_t device_free_bytes, reserved_bytes, allocated_bytes;
    uint64_t free_blocks_bytes; /* reserved, in use by nobody, and not to be had */
    struct plim_trace_holders holders;
    struct plim_trace_pillars pillars;
    bool is_demand;         /* what is live and the request exceed the room: no setting can help */
    uint64_t missing_bytes; /* ... by that much */
};

struct plim_trace_trial {
    char settings[PLIM_TRACE_SETTINGS_BYTES];
    bool is_past_oom; /* of the request that failed; or no OOM at all where there was none */
    struct plim_torch_result result;
    uint32_t oom_entry;
};

struct plim_trace_analysis {
    size_t device, n_entries;
    struct plim_torch_settings settings; /* as recorded */
    struct plim_trace_requests requests;
    uint64_t room_bytes;             /* the capacity of the replays; UINT64_MAX: unknown and not needed */
    struct plim_trace_replay replay; /* under the recorded settings */
    uint64_t reserved_bytes, allocated_bytes, inactive_split_bytes; /* at the end, of the segments */
    size_t n_segments;
    size_t peak_at; /* the event behind the peak */
    struct plim_trace_holders peak;
    struct plim_trace_pillars peak_pillars;
    struct plim_trace_growth growth;
    struct plim_trace_pieces pieces; /* of a replay that met the recorded run; else empty */
    struct plim_trace_oom oom;       /* of the first that the trace has */
    struct plim_trace_trial trials[PLIM_TRACE_MAX_TRIALS];
    size_t n_trials;
    uint32_t peak_entry; /* UINT32_MAX: the peak is the beginning */
    bool is_met;         /* it ran out, or did not, where the recorded run did */
    bool has_oom;
};

struct plim_trace_question {
    const char *settings;    /* to try; NULL: a list of usual ones when memory ran out */
    uint64_t capacity_bytes; /* that PyTorch may reserve; 0: what the trace says */
    bool has_no_trials;      /* other settings are not asked about */
};

PLIM_MUST_CHECK int plim_trace_analyse(struct plim_memory_trace *trace, size_t device,
                                       const struct plim_trace_question *question,
                                       struct plim_trace_analysis *ret_analysis, struct plim_error *reterr);
void plim_trace_analysis_done(struct plim_trace_analysis *analysis);

#endif

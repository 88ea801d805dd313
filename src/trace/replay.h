/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_REPLAY_H
#define PLIMSOLL_TRACE_REPLAY_H

/* The requests of a trace, through the allocator: under the settings it was made with, or others. */

#include "trace/requests.h"

struct plim_trace_replay {
    struct plim_torch_result result;
    uint32_t oom_entry; /* the entry of the trace whose request failed first; UINT32_MAX: none */
    /* How the changes of segments agree with those of the trace: action, bytes, stream and pool, in order. */
    size_t n_recorded, n_replayed, n_equal;
};

struct plim_trace_conditions {
    struct plim_torch_settings settings;
    uint64_t capacity_bytes; /* UINT64_MAX: no end */
    uint64_t card_bytes;     /* for a memory fraction; 0: capacity_bytes */
    /* The trace's own conditions: segments get the addresses that they had. Other conditions: the driver's usual order.
     */
    bool are_recorded;
    uint64_t *block_bytes; /* see struct plim_torch_setup */
};

/* An allocator that holds what was held before the trace begins. */
struct plim_trace_run {
    struct plim_torch_allocator *allocator;
    uint64_t *addresses;
};

PLIM_MUST_CHECK int plim_trace_run_open(const struct plim_memory_trace *trace, size_t device,
                                        const struct plim_trace_requests *requests,
                                        const struct plim_trace_conditions *conditions,
                                        void (*watch)(void *watcher, const struct plim_torch_change *change),
                                        void *watcher, struct plim_trace_run *ret_run, struct plim_error *reterr);
void plim_trace_run_done(struct plim_trace_run *run);

PLIM_MUST_CHECK int plim_trace_replay(const struct plim_memory_trace *trace, size_t device,
                                      const struct plim_trace_requests *requests,
                                      const struct plim_trace_conditions *conditions,
                                      struct plim_trace_replay *ret_replay, struct plim_error *reterr);

#endif

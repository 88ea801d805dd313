/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_REQUESTS_H
#define PLIMSOLL_TRACE_REQUESTS_H

/*
 * From the trace of a device to what its program asked of the allocator: requests and returns in order, without what
 * the allocator made of them, and the segments that it held before the trace begins. That state is found by walking
 * the trace backwards from the segments at its end.
 *
 * Not in a trace, and inferred: empty_cache() (a burst of released segments that no request needed), the end of a pool
 * (its segments are released), the stream of a use that delayed a return (only the delay is known).
 */

#include "engine/torch/allocator.h"
#include "trace/trace.h"

struct plim_trace_requests {
    struct plim_torch_event *events;
    uint32_t *entry_of; /* for each event: the entry of the trace; UINT32_MAX: inferred */
    size_t n_events;
    uint32_t n_ids, n_before; /* ids below n_before were held before the trace began */
    uint32_t *taken_by;       /* for each id: its ALLOC entry; of those before: a block of the snapshot or UINT32_MAX */
    uint64_t *id_bytes;       /* ... and what was requested */
    struct plim_torch_segment_before *segments;
    struct plim_torch_block_before *blocks;
    size_t n_segments, n_blocks;
    uint64_t before_bytes, before_reserved_bytes;
    uint16_t n_streams, n_pools;
    bool *has_retries;     /* by pool, see struct plim_torch_setup */
    uint16_t *stream_rank; /* by index of the trace: the number in events */
    /* What the trace says of the room that the allocator had; 0 when it says nothing. */
    uint64_t room_bytes;
    bool is_room_exact; /* from an OOM: reserved and free bytes; else at most what a retry shows */
    size_t n_lost;      /* entries that fit nothing: the trace is cut or damaged */
};

/* recorded: the settings under which the trace was made. Once for a device: the pools of entries are filled in where
 * they were unknown. */
PLIM_MUST_CHECK int plim_trace_requests_make(struct plim_memory_trace *trace, size_t device,
                                             const struct plim_torch_settings *recorded,
                                             struct plim_trace_requests *ret_requests, struct plim_error *reterr);
void plim_trace_requests_done(struct plim_trace_requests *requests);

#endif

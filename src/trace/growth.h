/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_GROWTH_H
#define PLIMSOLL_TRACE_GROWTH_H

/*
 * Memory that grows with each turn of a program's loop and is not given back.
 *
 * A loop shows in the stacks: in one function, under the same callers, the line that allocates goes back to an earlier
 * one again and again. It counts if it is outside the calls of modules (a loop inside one goes over layers) and if
 * modules are called in it (else it may load a model). A line of the program grows when allocations of it from all
 * quarters of the loop are still held at its end, about as much from each. What is held from the first turns alone is
 * warm-up or a state, what is held from the last ones a step under way or a cache that has an end.
 */

#include "trace/requests.h"

enum { PLIM_TRACE_MAX_GROWING = 8, PLIM_TRACE_LEAST_TURNS = 12 };

struct plim_trace_growing {
    uint32_t frame;      /* of the line that allocates */
    uint64_t bytes;      /* held at the loop's end */
    uint64_t n, n_turns; /* allocations, and turns from which they are */
};

struct plim_trace_growth {
    bool has_loop;
    uint32_t loop_frame; /* the line that a turn begins with */
    uint64_t n_turns;
    struct plim_trace_growing lines[PLIM_TRACE_MAX_GROWING]; /* the most bytes first */
    size_t n_lines;
};

PLIM_MUST_CHECK int plim_trace_growth_find(const struct plim_memory_trace *trace, size_t device,
                                           const struct plim_trace_requests *requests,
                                           struct plim_trace_growth *ret_growth, struct plim_error *reterr);

#endif

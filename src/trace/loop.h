/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_LOOP_H
#define PLIMSOLL_TRACE_LOOP_H

/*
 * The loop of a program, found in the stacks of its requests.
 *
 * In one function, under the same callers, the line that allocates goes back to an earlier one again and again; or all
 * requests come from one line, and under it the same calls come again. A loop is looked for outside the calls of
 * modules, for one inside goes over layers. A loop that works (it calls modules, backward passes or an optimizer) is
 * preferred; one that does not may load weights or simulate.
 */

#include "trace/requests.h"

enum { PLIM_TRACE_LEAST_TURNS = 12 };

struct plim_trace_loop {
    uint32_t frame; /* the line that a turn begins with; PLIM_TRACE_NO_STACK: there is no loop */
    uint64_t n_turns;
    bool has_work;
    uint32_t *turns;  /* by event: the turn of the loop, from 1 on; 0: before it */
    uint32_t *calls;  /* by stack: the frame in the loop's function; PLIM_TRACE_NO_STACK: it is not under it */
    uint32_t *stacks; /* by id: of its request, or of the backward pass that it is of (backward.h) */
    size_t end;       /* the event behind the loop's last request */
};

PLIM_MUST_CHECK int plim_trace_loop_find(const struct plim_memory_trace *trace, size_t device,
                                         const struct plim_trace_requests *requests, struct plim_trace_loop *ret_loop,
                                         struct plim_error *reterr);
void plim_trace_loop_done(struct plim_trace_loop *loop);

#endif

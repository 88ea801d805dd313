/* SPDX-License-Identifier: MIT */
#include "trace/pieces/apart.h"

#include "base/mem.h"

int plim_trace_apart_replay(const struct plim_memory_trace *trace, size_t device,
                            const struct plim_trace_requests *requests, const struct plim_trace_conditions *conditions,
                            enum plim_trace_apart apart, struct plim_trace_replay *ret_replay,
                            struct plim_error *reterr)
{
    struct plim_trace_requests one = *requests;
    struct plim_trace_conditions other = *conditions;
    int result;
    one.events = plim_alloc_unset(requests->n_events + 1, sizeof *one.events);
    one.segments = plim_alloc_unset(requests->n_segments + 1, sizeof *one.segments);
    if (!one.events || !one.segments) {
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    } else {
        for (size_t i = 0; i < requests->n_events; i++) {
            one.events[i] = requests->events[i];
            *(apart == PLIM_TRACE_APART_STREAMS ? &one.events[i].stream : &one.events[i].pool) = 0;
        }
        for (size_t i = 0; i < requests->n_segments; i++) {
            one.segments[i] = requests->segments[i];
            *(apart == PLIM_TRACE_APART_STREAMS ? &one.segments[i].stream : &one.segments[i].pool) = 0;
        }
        other.are_recorded = false;
        result = plim_trace_replay(trace, device, &one, &other, ret_replay, reterr);
    }
    plim_free(one.events);
    plim_free(one.segments);
    return result;
}

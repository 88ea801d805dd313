/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_PIECES_APART_H
#define PLIMSOLL_TRACE_PIECES_APART_H

/* A history with its streams, or its pools, in one: what is free of one serves no request of another. */

#include "trace/replay.h"

enum plim_trace_apart { PLIM_TRACE_NOT_APART, PLIM_TRACE_APART_STREAMS, PLIM_TRACE_APART_POOLS };

/* The replay of what is asked, all on one stream or from the program's own pool. */
PLIM_MUST_CHECK int plim_trace_apart_replay(const struct plim_memory_trace *trace, size_t device,
                                            const struct plim_trace_requests *requests,
                                            const struct plim_trace_conditions *conditions, enum plim_trace_apart apart,
                                            struct plim_trace_replay *ret_replay, struct plim_error *reterr);

#endif

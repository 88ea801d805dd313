/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_GROWTH_GROWTH_H
#define PLIMSOLL_TRACE_GROWTH_GROWTH_H

/*
 * Memory that grows with the turns of a program's loop, by the lines that ask for it.
 *
 * KEPT: allocations from all quarters of the loop are still held at its end, about as much from each. What is held from
 * the first turns alone is warm-up or a state, what is held from the last ones a step under way or a cache that has an
 * end. In a loop that does no work (loop.h) more is asked of a line, for it may load weights: all that is left is
 * little of what was taken, and turns leave the same, or sizes that do not come in the same order again, as those of
 * layers do. Nor are lines named when as much goes that was there before the loop: it converts weights one by one.
 * LARGER: each turn asks for more than the one before, first at this line; it may be a longer sequence, or a tensor
 * that is copied into a larger one: two lines where it may be either. LATE: what several turns took is given back
 * together, the oldest first and not always as many: so does Python's garbage collector with reference cycles. A list
 * that a program empties goes newest first.
 *
 * These are facts about a history and not mistakes yet.
 */

#include "trace/loop.h"

enum { PLIM_TRACE_MAX_GROWING = 8 };

enum plim_trace_growth_kind { PLIM_TRACE_KEPT, PLIM_TRACE_LARGER, PLIM_TRACE_LATE };

struct plim_trace_growing {
    enum plim_trace_growth_kind kind;
    uint32_t frame;       /* of the line that allocates */
    uint32_t call;        /* the line of the loop that it is under; PLIM_TRACE_NO_STACK: none */
    uint64_t bytes;       /* KEPT: held at the loop's end; LARGER: a turn of the last ones; LATE: the most held */
    uint64_t first_bytes; /* LARGER: a turn of the first ones */
    uint64_t n;           /* allocations: KEPT: held; LARGER: all of this line; LATE: given back together */
    uint64_t n_turns;     /* KEPT: from which they are */
    uint64_t n_bursts;    /* LATE: times that some of three turns or more were given back */
};

struct plim_trace_growth {
    bool has_loop;
    uint32_t loop_frame; /* the line that a turn begins with */
    uint64_t n_turns;
    struct plim_trace_growing lines[PLIM_TRACE_MAX_GROWING]; /* by kind, the most bytes first */
    size_t n_lines;
};

PLIM_MUST_CHECK int plim_trace_growth_find(const struct plim_memory_trace *trace, size_t device,
                                           const struct plim_trace_requests *requests,
                                           const struct plim_trace_loop *loop, struct plim_trace_growth *ret_growth,
                                           struct plim_error *reterr);

#endif

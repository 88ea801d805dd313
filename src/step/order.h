/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_ORDER_H
#define PLIMSOLL_STEP_ORDER_H

/* The rules that the events of a track follow, one event after the other: for the reader and the writer of the file. */

#include "step/step.h"

struct plim_step_order {
    const struct plim_step_track *track; /* its numbers of streams, pools and allocations */
    uint32_t n_taken;
    uint8_t *states; /* [n_allocations] */
};

/* False: out of memory. */
bool plim_step_order_init(struct plim_step_order *order, const struct plim_step_track *track);
void plim_step_order_done(struct plim_step_order *order);

/* NULL, or the rule that this event breaks. */
const char *plim_step_order_next(struct plim_step_order *order, const struct plim_step_event *event);

/* After the last event. */
const char *plim_step_order_end(const struct plim_step_order *order);

/* Do the events of a track, as far as they go, keep the rules? *ret_nomem: memory ran out, and false is no answer. */
bool plim_step_is_in_order(const struct plim_step_track *track, bool *ret_nomem);

/* Are the marks of a loop, and no others, among its events? Those at its beginning and its end may be. */
bool plim_step_loop_has_marks(const struct plim_step_track *track, const struct plim_step_loop *loop);

/* True for the events that concern an allocation. */
static inline bool plim_step_event_has_id(const struct plim_step_event *event)
{
    return event->kind <= PLIM_STEP_GIVEN;
}

#endif

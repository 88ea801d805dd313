/* SPDX-License-Identifier: MIT */
#include "step/order.h"

#include "base/mem.h"

enum { FREE, HELD, LEAVING };

bool plim_step_order_init(struct plim_step_order *order, const struct plim_step_track *track)
{
    *order = (struct plim_step_order){ track, 0, plim_alloc(track->n_allocations, sizeof *order->states) };
    return order->states != NULL;
}

void plim_step_order_done(struct plim_step_order *order)
{
    plim_free(order->states);
    order->states = NULL;
}

static const char *next_of_allocation(struct plim_step_order *order, const struct plim_step_event *event)
{
    if (event->kind == PLIM_STEP_TAKE) {
        if (event->id != order->n_taken || event->id >= order->track->n_allocations)
            return "allocations are taken in the order of their numbers";
        order->states[order->n_taken++] = HELD;
        return NULL;
    }
    if (event->id >= order->n_taken)
        return "an allocation is given back before it is taken";
    uint8_t *state = &order->states[event->id];
    if (*state != (event->kind == PLIM_STEP_GIVEN ? LEAVING : HELD))
        return "an allocation is given back that is not held";
    *state = event->kind == PLIM_STEP_GIVE_LATER ? LEAVING : FREE;
    return NULL;
}

const char *plim_step_order_next(struct plim_step_order *order, const struct plim_step_event *event)
{
    if (event->kind >= PLIM_STEP_EVENT_MAX_)
        return "a kind of event that this version does not have";
    if (event->stream >= order->track->n_streams || event->pool >= order->track->n_pools)
        return "a stream or a pool that the track does not have";
    if (plim_step_event_has_id(event))
        return next_of_allocation(order, event);
    return event->id ? "an event without an allocation has the number of one" : NULL;
}

const char *plim_step_order_end(const struct plim_step_order *order)
{
    return order->n_taken < order->track->n_allocations ? "an allocation is never taken" : NULL;
}

bool plim_step_loop_has_marks(const struct plim_step_track *track, const struct plim_step_loop *loop)
{
    const uint32_t end = loop->first_event + loop->n_events, last = loop->first_mark + loop->n_marks;
    bool has_marks = loop->n_marks <= track->n_marks && loop->first_mark <= track->n_marks - loop->n_marks;
    for (size_t i = 0; has_marks && i < track->n_marks; i++) {
        const uint32_t event = track->marks[i].event;
        has_marks = !loop->n_marks         ? event <= loop->first_event || event >= end
                    : i < loop->first_mark ? event <= loop->first_event
                    : i >= last            ? event >= end
                                           : event >= loop->first_event && event <= end;
    }
    return has_marks;
}

bool plim_step_is_in_order(const struct plim_step_track *track, bool *ret_nomem)
{
    struct plim_step_order order;
    bool is_right = plim_step_order_init(&order, track);
    *ret_nomem = !is_right;
    for (size_t i = 0; is_right && i < track->n_events; i++)
        is_right = !plim_step_order_next(&order, &track->events[i]);
    plim_step_order_done(&order);
    return is_right;
}

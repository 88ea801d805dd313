/* SPDX-License-Identifier: MIT */
#include "step/unroll.h"

#include "base/limits.h"
#include "base/mem.h"
#include "step/order.h"
#include "step/size.h"

#include <string.h>

/* A track that is written. */
struct roll {
    const struct plim_step_track *from;
    struct plim_step_track to;
    uint32_t first_id, n_ids; /* of the loop that is written, in numbers of `from` */
    uint32_t *number;         /* [allocation of from]: in `to`, the latest */
};

static const char *const corrupt = "a loop of the step gives back what is not held";

/* What a track comes to with its loops. */
struct total {
    uint64_t events, allocations, marks;
};

/* False: too much. */
static bool count(const struct plim_step_shape *shape, const struct plim_step_track *track,
                  const struct plim_step_point *point, uint64_t *turns, uint64_t *budget, struct total *ret_total)
{
    struct total total = { track->n_events, track->n_allocations, track->n_marks };
    for (size_t i = 0; i < track->n_loops; i++) {
        const struct plim_step_loop *loop = &track->loops[i];
        const uint64_t each = (uint64_t)loop->n_events + loop->n_marks;
        turns[i] = plim_step_size_pieces(shape, loop->turns, point);
        const uint64_t more = turns[i] > 2 ? turns[i] - 2 : 0; /* repetitions than the track has */
        if (turns[i] > PLIM_MAX_STEP_TURNED_EVENTS || more * each > *budget)
            return false;
        *budget -= more * each;
        total.events += more * loop->n_events;
        total.allocations += more * loop->n_takes;
        total.marks += more * loop->n_marks;
    }
    *ret_total = total;
    return true;
}

static void put_mark(struct roll *r, uint32_t number)
{
    r->to.marks[r->to.n_marks] = r->from->marks[number];
    r->to.marks[r->to.n_marks++].event = (uint32_t)r->to.n_events;
}

static void put(struct roll *r, const struct plim_step_event *event, uint32_t id, uint32_t size)
{
    if (event->kind == PLIM_STEP_TAKE) {
        struct plim_step_allocation *made = &r->to.allocations[r->to.n_allocations];
        *made = r->from->allocations[event->id];
        made->size = size == UINT32_MAX ? made->size : size;
        id = r->to.n_allocations++;
        r->number[event->id] = id;
    }
    r->to.events[r->to.n_events] = *event;
    r->to.events[r->to.n_events++].id = plim_step_event_has_id(event) ? id : 0;
}

/*
 * All repetitions. A number of the loop is the latest that was taken as that; one of before stands for the turn before
 * the first repetition, and in later ones for the repetition before.
 */
static bool put_loop(struct roll *r, const struct plim_step_loop *loop, uint64_t turns)
{
    const struct plim_step_event *events = &r->from->events[loop->first_event];
    for (uint64_t turn = 1; turn < turns; turn++) {
        const uint32_t start = r->to.n_allocations, end = loop->first_mark + loop->n_marks;
        uint32_t n = 0, mark = loop->first_mark;
        for (uint32_t i = 0; i < loop->n_events; i++) {
            const struct plim_step_event *event = &events[i];
            while (mark < end && r->from->marks[mark].event <= loop->first_event + i)
                put_mark(r, mark++);
            if (event->kind == PLIM_STEP_TAKE) {
                put(r, event, 0, turn + 1 < turns ? loop->sizes[n] : UINT32_MAX);
                n++;
                continue;
            }
            const uint32_t back = r->first_id - event->id; /* if it is before the loop */
            const bool is_inside = event->id >= r->first_id;
            if (plim_step_event_has_id(event) && !is_inside && turn > 1 && back > r->n_ids)
                return false;
            put(r, event,
                is_inside  ? start + (event->id - r->first_id)
                : turn > 1 ? start - back
                           : r->number[event->id],
                UINT32_MAX);
        }
    }
    return true;
}

/* The only turn has given nothing on: the numbers of the repetition are those of the turn before it. */
static void stand_in(struct roll *r)
{
    for (uint32_t i = 0; i < r->n_ids; i++) {
        const uint32_t back = r->n_ids - i;
        r->number[r->first_id + i] = back <= r->to.n_allocations ? r->to.n_allocations - back : UINT32_MAX;
    }
}

static bool write_events(struct roll *r, const uint64_t *turns)
{
    size_t loop = 0;
    uint32_t taken = 0, mark = 0;
    for (size_t i = 0; i <= r->from->n_events; i++) {
        const struct plim_step_loop *own = loop < r->from->n_loops ? &r->from->loops[loop] : NULL;
        const size_t most = own && own->n_marks ? own->first_mark : r->from->n_marks;
        while (mark < most && r->from->marks[mark].event <= i)
            put_mark(r, mark++);
        if (i == r->from->n_events)
            break;
        if (own && i == own->first_event) {
            r->first_id = taken;
            r->n_ids = own->n_takes;
            if (turns[loop] < 2)
                stand_in(r);
            else if (!put_loop(r, own, turns[loop]))
                return false;
            mark = own->n_marks ? own->first_mark + own->n_marks : mark;
            taken += own->n_takes;
            i += own->n_events - 1;
            loop++;
            continue;
        }
        const struct plim_step_event *event = &r->from->events[i];
        put(r, event, plim_step_event_has_id(event) && event->kind != PLIM_STEP_TAKE ? r->number[event->id] : 0,
            UINT32_MAX);
        taken += event->kind == PLIM_STEP_TAKE;
    }
    return true;
}

static int unroll_track(const struct plim_step_shape *shape, const struct plim_step_track *from,
                        const struct plim_step_point *point, uint64_t *budget, struct plim_step_track *to,
                        struct plim_error *reterr)
{
    struct roll r = { .from = from, .to = *from };
    struct total total = { 0, 0, 0 };
    uint64_t *turns = plim_alloc(from->n_loops + 1, sizeof *turns);
    bool is_nomem = !turns, is_right = false;
    int result = 0;
    r.to.n_events = r.to.n_marks = r.to.n_loops = 0;
    r.to.n_allocations = 0;
    r.to.events = NULL;
    r.to.allocations = NULL;
    r.to.marks = NULL;
    r.to.loops = NULL;
    if (turns && !count(shape, from, point, turns, budget, &total)) {
        plim_free(turns);
        *to = r.to;
        return plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the loops of the step have more than %d events",
                         PLIM_MAX_STEP_TURNED_EVENTS);
    }
    r.to.events = plim_alloc_unset(total.events + 1, sizeof *r.to.events);
    r.to.allocations = plim_alloc_unset(total.allocations + 1, sizeof *r.to.allocations);
    r.to.marks = plim_alloc_unset(total.marks + 1, sizeof *r.to.marks);
    r.number = plim_alloc_unset((size_t)from->n_allocations + 1, sizeof *r.number);
    is_nomem = is_nomem || !r.to.events || !r.to.allocations || !r.to.marks || !r.number;
    is_right = !is_nomem && write_events(&r, turns) && plim_step_is_in_order(&r.to, &is_nomem);
    plim_free(turns);
    plim_free(r.number);
    *to = r.to;
    if (!is_right)
        result = is_nomem ? plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory")
                          : plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "%s", corrupt);
    return result;
}

static bool has_loops(const struct plim_step_shape *shape)
{
    for (size_t i = 0; i < shape->n_tracks; i++)
        if (shape->tracks[i].n_loops)
            return true;
    return false;
}

int plim_step_unroll(const struct plim_step_shape *shape, const struct plim_step_point *point,
                     struct plim_step_shape **ret_own, struct plim_error *reterr)
{
    uint64_t budget = PLIM_MAX_STEP_TURNED_EVENTS;
    int result = 0;
    *ret_own = NULL;
    if (!has_loops(shape))
        return 0;
    struct plim_step_shape *own = plim_alloc(1, sizeof *own);
    struct plim_step_track *tracks = plim_alloc(shape->n_tracks + 1, sizeof *tracks);
    if (!own || !tracks) {
        plim_free(own);
        plim_free(tracks);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    *own = *shape;
    own->tracks = tracks;
    own->n_tracks = 0;
    while (result == 0 && own->n_tracks < shape->n_tracks) {
        const size_t at = own->n_tracks++;
        result = unroll_track(shape, &shape->tracks[at], point, &budget, &tracks[at], reterr);
    }
    if (result == 0)
        *ret_own = own;
    else
        plim_step_unrolled_free(own);
    return result;
}

void plim_step_unrolled_free(struct plim_step_shape *own)
{
    for (size_t i = 0; own && i < own->n_tracks; i++) {
        plim_free(own->tracks[i].events);
        plim_free(own->tracks[i].allocations);
        plim_free(own->tracks[i].marks);
    }
    if (own)
        plim_free(own->tracks);
    plim_free(own);
}

/* SPDX-License-Identifier: MIT */
#include "step/fit/braid.h"

#include "base/mem.h"
#include "step/fit/differ.h"
#include "step/order.h"

#include <string.h>

/*
 * How long an allocation lives, in events: within one operation, what a layer needs, a pass, to the end. A work area
 * and the semaphores beside it (work_area.h) are known by their form: taken, taken, given back, given back. They do not
 * count in the time of others, since they are what comes and goes.
 */
enum lifetime { WORK_AREA, SEMAPHORES, TINY, SHORT, MIDDLE, LONG, ENDLESS };
enum { TINY_EVENTS = 3, SHORT_EVENTS = 12, MIDDLE_EVENTS = 200 };

/*
 * So many of the allocations may be missing from one of the orders: of work areas more than half, since each bias and
 * norm of a model may have one; few of others that are given back soon; none of what lives longer, as the copies that a
 * batch of one does not need: a program that keeps other things is another one.
 */
enum { MOST_PERCENT = 6, MOST_WORK_PERCENT = 60, MOST_BESIDE = 8 };

/* One of the two orders that are compared. */
struct side {
    const struct plim_step_track *track;
    const uint32_t *sites; /* NULL: they are those of the braid */
    size_t n_sites;
    uint64_t *signs;    /* [event] */
    uint8_t *lifetimes; /* [allocation]: enum lifetime */
    bool *stays;        /* [allocation]: beyond a mark */
    size_t *partners;   /* [event]: of the other side; SIZE_MAX: none */
    uint32_t *same;     /* [allocation]: of the other side */
};

static void side_done(struct side *side)
{
    plim_free(side->signs);
    plim_free(side->lifetimes);
    plim_free(side->stays);
    plim_free(side->partners);
    plim_free(side->same);
}

/* Both are of one line. Returns come with the last taken first. */
static bool begins_work_area(const struct plim_step_track *track, size_t at)
{
    const struct plim_step_event *e = &track->events[at];
    return at + 3 < track->n_events && e[0].kind == PLIM_STEP_TAKE && e[1].kind == PLIM_STEP_TAKE &&
           e[2].kind == PLIM_STEP_GIVE && e[3].kind == PLIM_STEP_GIVE && e[2].id == e[1].id && e[3].id == e[0].id &&
           track->allocations[e[0].id].site == track->allocations[e[1].id].site;
}

static void find_lifetimes(struct side *side)
{
    const struct plim_step_track *track = side->track;
    uint32_t n = 0; /* the count when an allocation was taken is kept in `same` meanwhile */
    for (size_t i = 0; i < track->n_events; i++) {
        const struct plim_step_event *event = &track->events[i];
        uint8_t *lifetime = &side->lifetimes[event->id];
        if (begins_work_area(track, i)) {
            side->lifetimes[event[0].id] = WORK_AREA;
            side->lifetimes[event[1].id] = SEMAPHORES;
            i += 3;
            continue;
        }
        if (event->kind == PLIM_STEP_TAKE) {
            *lifetime = ENDLESS;
            side->same[event->id] = n;
        } else if (plim_step_event_has_id(event) && *lifetime == ENDLESS) {
            const uint32_t own = n - side->same[event->id];
            *lifetime = own <= TINY_EVENTS ? TINY : own <= SHORT_EVENTS ? SHORT : own <= MIDDLE_EVENTS ? MIDDLE : LONG;
        }
        n++;
    }
}

static void find_stays(struct side *side)
{
    const struct plim_step_track *track = side->track;
    size_t mark = 0;
    for (size_t i = 0; i < track->n_events; i++) {
        const struct plim_step_event *event = &track->events[i];
        for (; mark < track->n_marks && track->marks[mark].event <= i; mark++)
            ;
        if (event->kind == PLIM_STEP_TAKE)
            side->same[event->id] = (uint32_t)mark; /* kept there meanwhile */
        else if (plim_step_event_has_id(event))
            side->stays[event->id] = side->same[event->id] != mark;
    }
}

/* What an allocation is known by beside its line: how long it lives, little of that, or whether it outlives its phase.
 */
enum signs { FINE, COARSE, BY_PHASE, N_SIGNS };

static uint64_t sign_of(const struct side *side, const struct plim_step_event *event, enum signs signs)
{
    uint64_t site = 0, lifetime = 0;
    if (plim_step_event_has_id(event)) {
        const uint32_t own = side->track->allocations[event->id].site;
        site = !side->sites ? own : own < side->n_sites ? side->sites[own] : PLIM_STEP_NO_SITE;
        lifetime = side->lifetimes[event->id];
        if (signs != FINE && lifetime >= TINY && lifetime != ENDLESS)
            lifetime = signs == BY_PHASE && side->stays[event->id] ? LONG : SHORT;
    }
    return (uint64_t)event->kind << 60 | lifetime << 56 | ((uint64_t)event->stream & 0xfff) << 44 |
           ((uint64_t)event->pool & 0xfff) << 32 | (site & UINT32_MAX);
}

static void sign(struct side *side, enum signs signs)
{
    for (size_t i = 0; i < side->track->n_events; i++)
        side->signs[i] = sign_of(side, &side->track->events[i], signs);
    for (uint32_t i = 0; i < side->track->n_allocations; i++)
        side->same[i] = PLIM_STEP_NO_ALLOCATION;
}

static bool side_init(struct side *side)
{
    const struct plim_step_track *track = side->track;
    side->signs = plim_alloc(track->n_events + 1, sizeof *side->signs);
    side->partners = plim_alloc(track->n_events + 1, sizeof *side->partners);
    side->lifetimes = plim_alloc((size_t)track->n_allocations + 1, sizeof *side->lifetimes);
    side->stays = plim_alloc((size_t)track->n_allocations + 1, sizeof *side->stays);
    side->same = plim_alloc((size_t)track->n_allocations + 1, sizeof *side->same);
    if (!side->signs || !side->partners || !side->lifetimes || !side->stays || !side->same)
        return false;
    find_lifetimes(side);
    find_stays(side);
    return true;
}

/* --- which allocations are the same --- */

/* Pairs of takes; then those of which another event has no partner, or another one, are parted. */
static void pair_allocations(struct side *a, struct side *b)
{
    bool is_stable = false;
    for (size_t i = 0; i < a->track->n_events; i++)
        if (a->partners[i] != SIZE_MAX && a->track->events[i].kind == PLIM_STEP_TAKE) {
            const uint32_t x = a->track->events[i].id, y = b->track->events[a->partners[i]].id;
            a->same[x] = y;
            b->same[y] = x;
        }
    for (size_t i = 0; i < b->track->n_events; i++)
        b->partners[i] = SIZE_MAX;
    for (size_t i = 0; i < a->track->n_events; i++)
        if (a->partners[i] != SIZE_MAX)
            b->partners[a->partners[i]] = i;
    while (!is_stable) {
        is_stable = true;
        for (int turn = 0; turn < 2; turn++) {
            struct side *own = turn ? b : a, *other = turn ? a : b;
            for (size_t i = 0; i < own->track->n_events; i++) {
                const struct plim_step_event *event = &own->track->events[i];
                const uint32_t x = event->id, y = plim_step_event_has_id(event) ? own->same[x] : 0;
                if (!plim_step_event_has_id(event) || y == PLIM_STEP_NO_ALLOCATION)
                    continue;
                if (own->partners[i] != SIZE_MAX && other->track->events[own->partners[i]].id == y)
                    continue;
                own->same[x] = other->same[y] = PLIM_STEP_NO_ALLOCATION;
                is_stable = false;
            }
        }
    }
}

/* Only events of the same allocations, and events without any, keep their partners. */
static void part_events(struct side *own)
{
    for (size_t i = 0; i < own->track->n_events; i++)
        if (plim_step_event_has_id(&own->track->events[i]) &&
            own->same[own->track->events[i].id] == PLIM_STEP_NO_ALLOCATION)
            own->partners[i] = SIZE_MAX;
}

struct lost {
    size_t n, n_others, n_living; /* others than work areas; and those that live longer than an operation */
};

/*
 * What is taken and given back while nothing happens that both have is part of one more operation, however long that
 * is: the sort of an embedding's gradient takes and gives back two dozen times. Its allocations count as short ones.
 * False: out of memory.
 */
static bool shorten_lives(struct side *own)
{
    const struct plim_step_track *track = own->track;
    size_t *start = plim_alloc((size_t)track->n_allocations + 1, sizeof *start), first = 0;
    for (size_t i = 0; start && i < track->n_events; i++) {
        const struct plim_step_event *event = &track->events[i];
        if (own->partners[i] != SIZE_MAX)
            first = i + 1;
        else if (event->kind == PLIM_STEP_TAKE)
            start[event->id] = first;
        else if (event->kind == PLIM_STEP_GIVE && start[event->id] == first && own->lifetimes[event->id] > SHORT)
            own->lifetimes[event->id] = SHORT;
    }
    plim_free(start);
    return start != NULL;
}

/* Allocations that the other side lacks; those that some strand lacks already do not count. */
static struct lost count_lost(const struct side *own, const bool *is_optional)
{
    struct lost lost = { 0, 0, 0 };
    for (uint32_t i = 0; i < own->track->n_allocations; i++)
        if (own->same[i] == PLIM_STEP_NO_ALLOCATION && !(is_optional && is_optional[i])) {
            lost.n++;
            lost.n_others += own->lifetimes[i] > SEMAPHORES;
            lost.n_living += own->lifetimes[i] > SHORT;
        }
    return lost;
}

static bool are_same_marks(const struct plim_step_track *a, const struct plim_step_track *b)
{
    bool is_same = a->n_marks == b->n_marks;
    for (size_t i = 0; is_same && i < a->n_marks; i++)
        is_same = a->marks[i].step == b->marks[i].step && a->marks[i].phase == b->marks[i].phase;
    return is_same;
}

static bool events_have_partners(const struct side *own)
{
    for (size_t i = 0; i < own->track->n_events; i++)
        if (own->partners[i] == SIZE_MAX && !plim_step_event_has_id(&own->track->events[i]))
            return false;
    return true;
}

static bool may_braid(const struct side *a, const struct side *b, const bool *is_optional)
{
    const struct lost x = count_lost(a, is_optional), y = count_lost(b, NULL);
    const uint32_t n_a = a->track->n_allocations, n_b = b->track->n_allocations;
    const size_t n = n_a > n_b ? n_a : n_b;
    /* What both lack of each other may be one thing that was not recognized: twice, it would be wrong. */
    return x.n + y.n <= n * MOST_WORK_PERCENT / 100 + MOST_BESIDE &&
           x.n_others + y.n_others <= n * MOST_PERCENT / 100 + MOST_BESIDE && !(x.n_others && y.n_others) &&
           x.n_living + y.n_living == 0 && events_have_partners(a) && events_have_partners(b);
}

/* --- one order of two --- */

struct merge {
    struct plim_step_track track;
    uint32_t *from_a, *from_b; /* [allocation of the merged order] */
    uint32_t *number_a, *number_b;
    uint32_t *place_a; /* [event of a, and the end]: in the merged order */
};

static void merge_done(struct merge *merge)
{
    plim_free(merge->track.events);
    plim_free(merge->track.allocations);
    plim_free(merge->track.marks);
    plim_free(merge->from_a);
    plim_free(merge->from_b);
    plim_free(merge->number_a);
    plim_free(merge->number_b);
    plim_free(merge->place_a);
}

/* The next event of one side; `other` is the allocation of the other side that is the same. */
static void put(struct merge *m, const struct side *side, size_t at, bool is_a, uint32_t other)
{
    struct plim_step_event event = side->track->events[at];
    if (plim_step_event_has_id(&event)) {
        uint32_t *number = is_a ? &m->number_a[event.id] : &m->number_b[event.id];
        if (event.kind == PLIM_STEP_TAKE) {
            const uint32_t new = m->track.n_allocations++;
            struct plim_step_allocation *made = &m->track.allocations[new];
            *made = side->track->allocations[event.id];
            made->site = !side->sites                 ? made->site
                         : made->site < side->n_sites ? side->sites[made->site]
                                                      : PLIM_STEP_NO_SITE;
            m->from_a[new] = is_a ? event.id : PLIM_STEP_NO_ALLOCATION;
            m->from_b[new] = is_a ? other : event.id;
            if (is_a && other != PLIM_STEP_NO_ALLOCATION)
                m->number_b[other] = new;
            *number = new;
        }
        event.id = *number;
    }
    m->track.events[m->track.n_events++] = event;
}

static bool merge_init(struct merge *m, const struct side *a, const struct side *b)
{
    const size_t n = (size_t)a->track->n_allocations + b->track->n_allocations + 1;
    *m = (struct merge){ .track = *a->track };
    m->track.has_retries = NULL;
    m->track.recorded = NULL;
    m->track.loops = NULL;
    m->track.n_loops = 0;
    m->track.n_events = m->track.n_allocations = 0;
    m->track.events = plim_alloc(a->track->n_events + b->track->n_events + 1, sizeof *m->track.events);
    m->track.allocations = plim_alloc(n, sizeof *m->track.allocations);
    m->track.marks = plim_alloc(a->track->n_marks + 1, sizeof *m->track.marks);
    m->from_a = plim_alloc(n, sizeof *m->from_a);
    m->from_b = plim_alloc(n, sizeof *m->from_b);
    m->number_a = plim_alloc(n, sizeof *m->number_a);
    m->number_b = plim_alloc(n, sizeof *m->number_b);
    m->place_a = plim_alloc(a->track->n_events + 1, sizeof *m->place_a);
    return m->track.events && m->track.allocations && m->track.marks && m->from_a && m->from_b && m->number_a &&
           m->number_b && m->place_a;
}

static void merge_events(struct merge *m, const struct side *a, const struct side *b)
{
    size_t j = 0;
    for (size_t i = 0; i < a->track->n_events; i++) {
        const size_t partner = a->partners[i];
        while (partner != SIZE_MAX && j < partner)
            put(m, b, j++, false, PLIM_STEP_NO_ALLOCATION);
        j += partner != SIZE_MAX;
        m->place_a[i] = (uint32_t)m->track.n_events;
        put(m, a, i, true, a->same[a->track->events[i].id]);
    }
    while (j < b->track->n_events)
        put(m, b, j++, false, PLIM_STEP_NO_ALLOCATION);
    m->place_a[a->track->n_events] = (uint32_t)m->track.n_events;
    for (size_t i = 0; i < a->track->n_marks; i++) {
        m->track.marks[i] = a->track->marks[i];
        m->track.marks[i].event = m->place_a[a->track->marks[i].event];
    }
}

/* The events between two marks, or an end. */
static void part_of(const struct plim_step_track *track, size_t number, size_t *ret_start, size_t *ret_end)
{
    *ret_start = number ? track->marks[number - 1].event : 0;
    *ret_end = number < track->n_marks ? track->marks[number].event : track->n_events;
}

/* From mark to mark. */
static bool find_partners(struct side *a, const struct side *b, bool *ret_nomem)
{
    bool is_found = are_same_marks(a->track, b->track);
    for (size_t i = 0; is_found && i <= a->track->n_marks; i++) {
        size_t start_a, end_a, start_b, end_b;
        part_of(a->track, i, &start_a, &end_a);
        part_of(b->track, i, &start_b, &end_b);
        const size_t n_a = end_a - start_a, n_b = end_b - start_b;
        is_found = plim_step_differ(a->signs + start_a, n_a, b->signs + start_b, n_b, n_a + n_b, a->partners + start_a,
                                    ret_nomem);
        for (size_t k = start_a; is_found && k < end_a; k++)
            a->partners[k] += a->partners[k] == SIZE_MAX ? 0 : start_b;
    }
    return is_found;
}

static enum plim_step_braided try_signs(struct side *a, struct side *b, const bool *is_optional, enum signs signs)
{
    bool is_out_of_memory = false;
    sign(a, signs);
    sign(b, signs);
    if (!find_partners(a, b, &is_out_of_memory))
        return is_out_of_memory ? PLIM_STEP_BRAID_NOMEM : PLIM_STEP_TOO_DIFFERENT;
    pair_allocations(a, b);
    part_events(a);
    part_events(b);
    if (!shorten_lives(a) || !shorten_lives(b))
        return PLIM_STEP_BRAID_NOMEM;
    return may_braid(a, b, is_optional) ? PLIM_STEP_BRAIDED : PLIM_STEP_TOO_DIFFERENT;
}

/* What one order has beside the other makes some lives longer: then without them. */
static enum plim_step_braided merge_tracks(struct side *a, struct side *b, const bool *is_optional, struct merge *m)
{
    if (!side_init(a) || !side_init(b))
        return PLIM_STEP_BRAID_NOMEM;
    enum plim_step_braided result = PLIM_STEP_TOO_DIFFERENT;
    for (int signs = FINE; result == PLIM_STEP_TOO_DIFFERENT && signs < N_SIGNS; signs++)
        result = try_signs(a, b, is_optional, (enum signs)signs);
    if (result != PLIM_STEP_BRAIDED)
        return result;
    if (!merge_init(m, a, b))
        return PLIM_STEP_BRAID_NOMEM;
    merge_events(m, a, b);
    return PLIM_STEP_BRAIDED;
}

/* --- the braid --- */

static bool *list_optional(const struct plim_step_braid *braid, size_t track)
{
    bool *list = plim_alloc((size_t)braid->tracks[track].n_allocations + 1, sizeof *list);
    for (uint32_t i = 0; list && i < braid->tracks[track].n_allocations; i++)
        for (size_t s = 0; s < braid->n_strands; s++)
            list[i] = list[i] || braid->own[s][track][i] == PLIM_STEP_NO_ALLOCATION;
    return list;
}

/* Takes the merged orders over; the maps of all strands follow. False: out of memory, nothing has changed. */
static bool take_over(struct plim_step_braid *braid, struct merge *merges)
{
    const size_t n = braid->n_strands, n_tracks = braid->n_tracks;
    uint32_t ***own = plim_alloc(n + 1, sizeof *own);
    bool is_done = own != NULL;
    for (size_t s = 0; is_done && s <= n; s++) {
        own[s] = plim_alloc(n_tracks + 1, sizeof **own);
        is_done = own[s] != NULL;
        for (size_t t = 0; is_done && t < n_tracks; t++) {
            const struct merge *m = &merges[t];
            uint32_t *map = own[s][t] = plim_alloc((size_t)m->track.n_allocations + 1, sizeof *map);
            is_done = map != NULL;
            for (uint32_t i = 0; is_done && i < m->track.n_allocations; i++)
                map[i] = s == n                                    ? m->from_b[i]
                         : m->from_a[i] == PLIM_STEP_NO_ALLOCATION ? PLIM_STEP_NO_ALLOCATION
                                                                   : braid->own[s][t][m->from_a[i]];
        }
    }
    struct plim_step_braid made = { plim_alloc(n_tracks + 1, sizeof *made.tracks), n_tracks, n + 1, own };
    is_done = is_done && made.tracks;
    for (size_t t = 0; is_done && t < n_tracks; t++) {
        made.tracks[t] = merges[t].track;
        merges[t].track = (struct plim_step_track){ 0 };
    }
    plim_step_braid_done(is_done ? braid : &made);
    if (is_done)
        *braid = made;
    return is_done;
}

static void *copy_of(const void *array, size_t n, size_t size, bool *is_done)
{
    void *copy = plim_alloc(n + 1, size);
    *is_done = *is_done && copy;
    if (copy && n)
        memcpy(copy, array, n * size);
    return copy;
}

/* The first strand: its own order. */
static bool begin(struct plim_step_braid *braid, const struct plim_step_shape *shape, const uint32_t *sites,
                  size_t n_sites)
{
    struct plim_step_braid made = { .tracks = plim_alloc(shape->n_tracks + 1, sizeof *made.tracks),
                                    .own = plim_alloc(1, sizeof *made.own) };
    bool is_done = made.tracks && made.own;
    if (is_done) {
        made.n_strands = 1;
        made.own[0] = plim_alloc(shape->n_tracks + 1, sizeof **made.own);
        is_done = made.own[0] != NULL;
    }
    for (size_t t = 0; is_done && t < shape->n_tracks; t++) {
        const struct plim_step_track *from = &shape->tracks[t];
        struct plim_step_track *track = &made.tracks[made.n_tracks++];
        *track = *from;
        track->has_retries = NULL;
        track->recorded = NULL;
        track->loops = NULL;
        track->n_loops = 0;
        track->events = copy_of(from->events, from->n_events, sizeof *from->events, &is_done);
        track->allocations = copy_of(from->allocations, from->n_allocations, sizeof *from->allocations, &is_done);
        track->marks = copy_of(from->marks, from->n_marks, sizeof *from->marks, &is_done);
        made.own[0][t] = plim_alloc((size_t)from->n_allocations + 1, sizeof ***made.own);
        is_done = is_done && made.own[0][t];
        for (uint32_t i = 0; is_done && i < from->n_allocations; i++) {
            uint32_t *site = &track->allocations[i].site;
            *site = *site < n_sites ? sites[*site] : PLIM_STEP_NO_SITE;
            made.own[0][t][i] = i;
        }
    }
    if (is_done)
        *braid = made;
    else
        plim_step_braid_done(&made);
    return is_done;
}

static bool are_same_tracks(const struct plim_step_track *a, const struct plim_step_track *b)
{
    return a->rank == b->rank && a->device == b->device && a->n_streams == b->n_streams && a->n_pools == b->n_pools &&
           a->end == b->end && a->starts_late == b->starts_late;
}

static enum plim_step_braided merge_all(const struct plim_step_braid *braid, const struct plim_step_shape *shape,
                                        const uint32_t *sites, size_t n_sites, struct merge *merges)
{
    enum plim_step_braided result = PLIM_STEP_BRAIDED;
    for (size_t t = 0; result == PLIM_STEP_BRAIDED && t < shape->n_tracks; t++) {
        struct side a = { .track = &braid->tracks[t] };
        struct side b = { .track = &shape->tracks[t], .sites = sites, .n_sites = n_sites };
        bool *is_optional = list_optional(braid, t);
        result = !is_optional                         ? PLIM_STEP_BRAID_NOMEM
                 : !are_same_tracks(a.track, b.track) ? PLIM_STEP_TOO_DIFFERENT
                                                      : merge_tracks(&a, &b, is_optional, &merges[t]);
        plim_free(is_optional);
        side_done(&a);
        side_done(&b);
    }
    return result;
}

enum plim_step_braided plim_step_braid_add(struct plim_step_braid *braid, const struct plim_step_shape *shape,
                                           const uint32_t *sites, size_t n_sites)
{
    if (braid->n_strands == 0)
        return begin(braid, shape, sites, n_sites) ? PLIM_STEP_BRAIDED : PLIM_STEP_BRAID_NOMEM;
    if (braid->n_tracks != shape->n_tracks)
        return PLIM_STEP_TOO_DIFFERENT;
    struct merge *merges = plim_alloc(braid->n_tracks + 1, sizeof *merges);
    if (!merges)
        return PLIM_STEP_BRAID_NOMEM;
    enum plim_step_braided result = merge_all(braid, shape, sites, n_sites, merges);
    if (result == PLIM_STEP_BRAIDED && !take_over(braid, merges))
        result = PLIM_STEP_BRAID_NOMEM;
    for (size_t t = 0; t < shape->n_tracks; t++)
        merge_done(&merges[t]);
    plim_free(merges);
    return result;
}

void plim_step_braid_done(struct plim_step_braid *braid)
{
    for (size_t t = 0; braid->tracks && t < braid->n_tracks; t++)
        plim_step_track_done(&braid->tracks[t]);
    for (size_t s = 0; braid->own && s < braid->n_strands; s++) {
        for (size_t t = 0; braid->own[s] && t < braid->n_tracks; t++)
            plim_free(braid->own[s][t]);
        plim_free(braid->own[s]);
    }
    plim_free(braid->own);
    plim_free(braid->tracks);
    *braid = (struct plim_step_braid){ 0 };
}

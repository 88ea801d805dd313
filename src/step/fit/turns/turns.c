/* SPDX-License-Identifier: MIT */
#include "step/fit/turns/turns.h"

#include "base/mem.h"
#include "step/fit/differ.h"
#include "step/fit/sites.h"
#include "step/order.h"

#include <string.h>

enum { MOST_EVENTS = 1 << 23 /* of all recordings: what is compared is held at once */ };

/* A track of one recording, and what tells its events apart. */
struct course {
    const struct plim_step_track *track; /* NULL: the recording is of no use */
    const uint32_t *sites;
    uint64_t *signs;  /* [event]: kind, line, stream, pool */
    uint32_t *back;   /* [event]: allocations that were taken after the one that it gives back */
    uint32_t *taken;  /* [event and end]: allocations before it */
    size_t *partners; /* [event of the longest]: in this one; SIZE_MAX: none */
    const struct plim_step_shape *shape;
};

struct search {
    const struct plim_step_fit *fit;
    struct plim_step_turns_list *list;
    struct course *courses; /* [recording] */
    size_t track;
    bool is_nomem;
};

static void course_done(struct course *c)
{
    plim_free(c->signs);
    plim_free(c->back);
    plim_free(c->taken);
    plim_free(c->partners);
    *c = (struct course){ .track = NULL };
}

static bool course_init(struct course *c, const struct plim_step_recording *recording, size_t track,
                        const uint32_t *sites, size_t n_longest)
{
    const struct plim_step_track *t = &recording->step.shapes[0].tracks[track];
    uint32_t n = 0;
    *c = (struct course){ .track = t, .sites = sites, .shape = &recording->step.shapes[0] };
    c->signs = plim_alloc_unset(t->n_events + 1, sizeof *c->signs);
    c->back = plim_alloc_unset(t->n_events + 1, sizeof *c->back);
    c->taken = plim_alloc_unset(t->n_events + 1, sizeof *c->taken);
    c->partners = plim_alloc_unset(n_longest + 1, sizeof *c->partners);
    if (!c->signs || !c->back || !c->taken || !c->partners)
        return false;
    for (size_t i = 0; i < t->n_events; i++) {
        const struct plim_step_event *event = &t->events[i];
        uint32_t site = PLIM_STEP_NO_SITE;
        c->taken[i] = n;
        c->back[i] = 0;
        if (plim_step_event_has_id(event)) {
            const uint32_t own = t->allocations[event->id].site;
            site = own < recording->step.n_sites ? sites[own] : PLIM_STEP_NO_SITE;
            c->back[i] = event->kind == PLIM_STEP_TAKE ? 0 : n - event->id;
        }
        n += event->kind == PLIM_STEP_TAKE;
        c->signs[i] = (uint64_t)event->kind << 56 | ((uint64_t)event->stream & 0xfff) << 44 |
                      ((uint64_t)event->pool & 0xfff) << 32 | site;
    }
    c->taken[t->n_events] = n;
    return true;
}

/* The events between two marks, or an end. */
static void part_of(const struct plim_step_track *track, size_t number, size_t *ret_start, size_t *ret_end)
{
    *ret_start = number ? track->marks[number - 1].event : 0;
    *ret_end = number < track->n_marks ? track->marks[number].event : track->n_events;
}

static bool find_partners(struct search *s, struct course *own)
{
    const struct course *longest = &s->courses[s->list->longest];
    for (size_t i = 0; i <= longest->track->n_marks; i++) {
        size_t start_a, end_a, start_b, end_b;
        part_of(longest->track, i, &start_a, &end_a);
        part_of(own->track, i, &start_b, &end_b);
        const size_t n_a = end_a - start_a, n_b = end_b - start_b;
        if (!plim_step_differ(longest->signs + start_a, n_a, own->signs + start_b, n_b, n_a + n_b,
                              own->partners + start_a, &s->is_nomem))
            return false;
        for (size_t k = start_a; k < end_a; k++)
            own->partners[k] += own->partners[k] == SIZE_MAX ? 0 : start_b;
    }
    return true;
}

static bool is_same(const struct course *a, size_t i, const struct course *b, size_t k)
{
    return a->signs[i] == b->signs[k] && a->back[i] == b->back[k];
}

/* --- where the longest repeats itself --- */

/* A run of events [start, end) in which each is like the one a period before. */
struct run {
    size_t start, end, period;
};

static bool find_run(const struct course *c, size_t from, size_t n, size_t low, size_t high, struct run *ret_run)
{
    for (size_t period = 2; period <= n; period++) {
        struct run run = { from, from + n, period };
        bool is_periodic = n % period == 0;
        for (size_t i = from; is_periodic && i + period < from + n; i++)
            is_periodic = is_same(c, i, c, i + period);
        if (!is_periodic)
            continue;
        while (run.start > low && is_same(c, run.start - 1, c, run.start - 1 + period))
            run.start--;
        while (run.end < high && is_same(c, run.end, c, run.end - period))
            run.end++;
        if (run.end - run.start >= 2 * period && c->taken[run.start + period] > c->taken[run.start]) {
            *ret_run = run;
            return true;
        }
    }
    return false;
}

static size_t start_of(const struct plim_step_turns_list *list, size_t i)
{
    return list->turns[i].places[list->longest].first_event;
}

/* Loops of a track stay apart, the first that was found counts. */
static bool is_free(const struct search *s, const struct run *run)
{
    for (size_t i = 0; i < s->list->n; i++) {
        const struct plim_step_turns *own = &s->list->turns[i];
        const size_t start = start_of(s->list, i);
        const size_t end = start + (size_t)own->places[s->list->longest].n * own->n_events + own->n_rest_events;
        if (own->track == s->track && run->start < end && start < run->end)
            return false;
    }
    return true;
}

/* marks: of a repetition, from the first on. */
static bool add(struct search *s, const struct run *run, uint32_t first_mark, uint32_t n_marks)
{
    struct plim_step_turns_list *list = s->list;
    const struct course *c = &s->courses[list->longest];
    struct plim_step_turns t = { .track = s->track, .n_events = (uint32_t)run->period, .n_marks = n_marks };
    const size_t n = (run->end - run->start) / run->period, rest = run->start + n * run->period;
    const uint32_t first = c->taken[run->start];
    t.n_takes = c->taken[run->start + run->period] - first;
    t.n_rest_events = (uint32_t)(run->end - rest);
    t.n_rest_takes = c->taken[run->end] - c->taken[rest];
    t.places = plim_alloc(s->fit->n_recordings, sizeof *t.places);
    t.is_carried = plim_alloc(t.n_takes, sizeof *t.is_carried);
    struct plim_step_turns *grown = plim_realloc(list->turns, list->n + 1, sizeof *grown);
    list->turns = grown ? grown : list->turns;
    if (!t.places || !t.is_carried || !grown) {
        s->is_nomem = true;
        plim_step_turns_done(&t);
        return false;
    }
    t.places[list->longest] = (struct plim_step_turns_place){ (uint32_t)run->start, first, first_mark, (uint32_t)n };
    memset(t.is_carried, true, t.n_takes * sizeof *t.is_carried);
    for (size_t i = run->start; i < run->start + run->period; i++) {
        const struct plim_step_event *event = &c->track->events[i];
        if ((event->kind == PLIM_STEP_GIVE || event->kind == PLIM_STEP_GIVEN) && event->id >= first)
            t.is_carried[event->id - first] = false;
    }
    size_t at = list->n++; /* in the order of tracks and events */
    for (; at > 0 && grown[at - 1].track == s->track && start_of(list, at - 1) > run->start; at--)
        grown[at] = grown[at - 1];
    grown[at] = t;
    return true;
}

/* Blocks that another recording has less often. */
static void find_loops(struct search *s, const struct course *own)
{
    const struct course *c = &s->courses[s->list->longest];
    for (size_t part = 0; part <= c->track->n_marks; part++) {
        size_t low, high;
        part_of(c->track, part, &low, &high);
        for (size_t i = low; i < high && !s->is_nomem; i++) {
            struct run run;
            size_t end = i;
            while (end < high && own->partners[end] == SIZE_MAX)
                end++;
            if (end > i && s->list->n < PLIM_STEP_MAX_TURNS && find_run(c, i, end - i, low, high, &run) &&
                is_free(s, &run))
                add(s, &run, 0, 0);
            i = end;
        }
    }
}

/* --- where the others have it --- */

/* Of the other recording: where the events that follow one of the longest begin. */
static size_t place_after(const struct course *own, size_t at, size_t end, size_t otherwise)
{
    for (; at < end; at++)
        if (own->partners[at] != SIZE_MAX)
            return own->partners[at];
    return otherwise;
}

static bool place(const struct search *s, struct plim_step_turns *turns, const struct course *own,
                  struct plim_step_turns_place *ret_place)
{
    const struct course *c = &s->courses[s->list->longest];
    const struct plim_step_turns_place *first = &turns->places[s->list->longest];
    size_t part = 0, low, high, own_low, own_high, n = 0;
    while (part < c->track->n_marks && c->track->marks[part].event <= first->first_event)
        part++;
    part_of(c->track, part, &low, &high);
    part_of(own->track, part, &own_low, &own_high);
    const size_t start = place_after(own, first->first_event, high, own_high);
    while (start + n < own_high && is_same(own, start + n, c, first->first_event + n % turns->n_events))
        n++;
    if (n < turns->n_rest_events || (n - turns->n_rest_events) % turns->n_events) /* it ends within a turn */
        return false;
    *ret_place = (struct plim_step_turns_place){ (uint32_t)start, own->taken[start], 0,
                                                 (uint32_t)((n - turns->n_rest_events) / turns->n_events) };
    return true;
}

/* --- loops over whole phases --- */

enum { MOST_PHASES = 4 };

/* The phases of one step of the optimizer: from one mark on, and before the other. */
struct step_parts {
    size_t first, end;
};

static bool find_step(const struct plim_step_track *track, size_t from, struct step_parts *ret_parts)
{
    size_t end = from;
    while (end < track->n_marks && track->marks[end].step == track->marks[from].step)
        end++;
    *ret_parts = (struct step_parts){ from, end };
    return from < track->n_marks;
}

static bool find_same_step(const struct plim_step_track *track, uint32_t step, struct step_parts *ret_parts)
{
    size_t at = 0;
    while (at < track->n_marks && track->marks[at].step < step)
        at++;
    return find_step(track, at, ret_parts) && track->marks[at].step == step;
}

/* The events from a mark to the next one. */
static bool are_same_parts(const struct course *a, size_t i, const struct course *b, size_t k)
{
    size_t start_a, end_a, start_b, end_b;
    part_of(a->track, i + 1, &start_a, &end_a);
    part_of(b->track, k + 1, &start_b, &end_b);
    bool is_equal = a->track->marks[i].phase == b->track->marks[k].phase && end_a - start_a == end_b - start_b;
    for (size_t e = 0; is_equal && e < end_a - start_a; e++)
        is_equal = is_same(a, start_a + e, b, start_b + e);
    return is_equal;
}

static bool are_same_blocks(const struct course *a, size_t i, const struct course *b, size_t k, size_t n)
{
    bool is_equal = true;
    for (size_t e = 0; is_equal && e < n; e++)
        is_equal = are_same_parts(a, i + e, b, k + e);
    return is_equal;
}

/* The longest run of the same phases in a step, if one has two turns of it at least. */
static void find_phases(struct search *s, const struct step_parts *step)
{
    const struct course *c = &s->courses[s->list->longest];
    size_t best = 0, first = 0, n = 0;
    for (size_t period = 1; period <= MOST_PHASES; period++)
        for (size_t i = step->first; i + 2 * period <= step->end; i++) {
            size_t turns = 1;
            while (i + (turns + 1) * period <= step->end && are_same_blocks(c, i, c, i + turns * period, period))
                turns++;
            if (turns > 1 && turns * period > best) {
                best = turns * period;
                first = i;
                n = period;
            }
        }
    if (!best)
        return;
    struct run run = { .start = c->track->marks[first].event };
    run.period = (first + n < c->track->n_marks ? c->track->marks[first + n].event : c->track->n_events) - run.start;
    run.end = run.start + best / n * run.period;
    if (c->taken[run.start + run.period] > c->taken[run.start])
        add(s, &run, (uint32_t)first, (uint32_t)n);
}

static bool place_phases(const struct search *s, struct plim_step_turns *turns, const struct course *own,
                         struct plim_step_turns_place *ret_place)
{
    const struct course *c = &s->courses[s->list->longest];
    const struct plim_step_turns_place *longest = &turns->places[s->list->longest];
    struct step_parts all, mine;
    if (!find_same_step(c->track, c->track->marks[longest->first_mark].step, &all) ||
        !find_same_step(own->track, c->track->marks[longest->first_mark].step, &mine))
        return false;
    const size_t n_all = all.end - all.first, n = mine.end - mine.first, before = longest->first_mark - all.first;
    const size_t others = n_all - (size_t)longest->n * turns->n_marks; /* phases that are in no turn */
    if (n < others || (n - others) % turns->n_marks)
        return false;
    const size_t first = mine.first + before, n_turns = (n - others) / turns->n_marks;
    bool is_right = true;
    for (size_t i = 0; is_right && i < others; i++) {
        const size_t a = i < before ? all.first + i : all.end - others + i,
                     b = i < before ? mine.first + i : mine.end - others + i;
        is_right = c->track->marks[a].phase == own->track->marks[b].phase;
    }
    for (size_t i = 0; is_right && i < n_turns; i++)
        is_right = are_same_blocks(c, longest->first_mark, own, first + i * turns->n_marks, turns->n_marks);
    const size_t event = first < own->track->n_marks ? own->track->marks[first].event : own->track->n_events;
    *ret_place =
        (struct plim_step_turns_place){ (uint32_t)event, own->taken[event], (uint32_t)first, (uint32_t)n_turns };
    return is_right;
}

static void find_all_phases(struct search *s)
{
    const struct plim_step_track *track = s->courses[s->list->longest].track;
    struct step_parts step = { 0, 0 };
    while (!s->is_nomem && find_step(track, step.end, &step))
        find_phases(s, &step);
}

/* --- all --- */

/* A loop that some recording does not have at its place is none. */
static void place_all(struct search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->list->n; i++) {
        struct plim_step_turns turns = s->list->turns[i];
        bool is_found = true;
        for (size_t k = 0; turns.track == s->track && is_found && k < s->fit->n_recordings; k++)
            if (s->courses[k].track && k != s->list->longest)
                is_found = turns.n_marks ? place_phases(s, &turns, &s->courses[k], &turns.places[k])
                                         : place(s, &turns, &s->courses[k], &turns.places[k]);
        if (is_found)
            s->list->turns[n++] = turns;
        else
            plim_step_turns_done(&turns);
    }
    s->list->n = n;
}

static bool have_same_marks(const struct search *s)
{
    const struct plim_step_track *longest = s->courses[s->list->longest].track;
    bool is_equal = true;
    for (size_t k = 0; is_equal && k < s->fit->n_recordings; k++) {
        const struct plim_step_track *own = s->courses[k].track;
        is_equal = !own || own->n_marks == longest->n_marks;
        for (size_t i = 0; is_equal && own && i < own->n_marks; i++)
            is_equal = own->marks[i].step == longest->marks[i].step && own->marks[i].phase == longest->marks[i].phase;
    }
    return is_equal;
}

/* Parts of phases, in recordings that have the same. */
static void find_all_loops(struct search *s)
{
    const size_t longest = s->list->longest;
    bool is_done = true;
    for (size_t i = 0; is_done && !s->is_nomem && i < s->fit->n_recordings; i++)
        is_done = !s->courses[i].track || i == longest || find_partners(s, &s->courses[i]);
    for (size_t i = 0; is_done && !s->is_nomem && i < s->fit->n_recordings; i++)
        if (s->courses[i].track && i != longest)
            find_loops(s, &s->courses[i]);
}

static void look_at_track(struct search *s)
{
    const struct plim_step_fit *fit = s->fit;
    const size_t n_longest = fit->recordings[s->list->longest].step.shapes[0].tracks[s->track].n_events;
    for (size_t i = 0; i < fit->n_recordings; i++)
        if (fit->recordings[i].shape != PLIM_STEP_NO_SHAPE && !s->is_nomem)
            s->is_nomem = !course_init(&s->courses[i], &fit->recordings[i], s->track, s->list->sites[i], n_longest);
    if (!s->is_nomem && have_same_marks(s))
        find_all_loops(s);
    else if (!s->is_nomem)
        find_all_phases(s);
    if (!s->is_nomem)
        place_all(s);
    for (size_t i = 0; i < fit->n_recordings; i++)
        course_done(&s->courses[i]);
}

static bool are_same_tracks(const struct plim_step_track *a, const struct plim_step_track *b)
{
    return a->rank == b->rank && a->device == b->device && a->n_streams == b->n_streams && a->n_pools == b->n_pools;
}

/* The recording with most events; SIZE_MAX: all have as many, or they are not to be compared. */
static size_t find_longest(const struct plim_step_fit *fit)
{
    size_t longest = SIZE_MAX, n_all = 0, n_most = 0;
    bool is_mixed = false;
    for (size_t i = 0; i < fit->n_recordings; i++) {
        size_t n = 0;
        if (fit->recordings[i].shape == PLIM_STEP_NO_SHAPE)
            continue;
        const struct plim_step_shape *shape = &fit->recordings[i].step.shapes[0];
        for (size_t t = 0; t < shape->n_tracks; t++)
            n += shape->tracks[t].n_events;
        n_all += n;
        is_mixed = is_mixed || (longest != SIZE_MAX && n != n_most);
        if (longest == SIZE_MAX || n > n_most) {
            longest = i;
            n_most = n;
        }
    }
    for (size_t i = 0; is_mixed && i < fit->n_recordings; i++) {
        if (fit->recordings[i].shape == PLIM_STEP_NO_SHAPE)
            continue;
        const struct plim_step_shape *a = &fit->recordings[longest].step.shapes[0],
                                     *b = &fit->recordings[i].step.shapes[0];
        is_mixed = a->n_tracks == b->n_tracks;
        for (size_t t = 0; is_mixed && t < a->n_tracks; t++)
            is_mixed = are_same_tracks(&a->tracks[t], &b->tracks[t]);
    }
    return is_mixed && n_all <= MOST_EVENTS ? longest : SIZE_MAX;
}

static bool number_sites(const struct plim_step_fit *fit, struct plim_step_turns_list *list)
{
    struct plim_step all = { 0 };
    bool is_done = list->sites != NULL;
    for (size_t i = 0; is_done && i < fit->n_recordings; i++) {
        list->sites[i] = plim_step_add_sites(&all, &fit->recordings[i].step);
        is_done = list->sites[i] != NULL;
    }
    plim_step_done(&all);
    return is_done;
}

int plim_step_turns_find(const struct plim_step_fit *fit, struct plim_step_turns_list *ret_list,
                         struct plim_error *reterr)
{
    struct plim_step_turns_list list = { .longest = find_longest(fit), .n_recordings = fit->n_recordings };
    struct search s = { .fit = fit, .list = &list };
    *ret_list = (struct plim_step_turns_list){ .n = 0 };
    if (list.longest == SIZE_MAX)
        return 0;
    s.courses = plim_alloc(fit->n_recordings, sizeof *s.courses);
    list.sites = plim_alloc(fit->n_recordings, sizeof *list.sites);
    s.is_nomem = !s.courses || !number_sites(fit, &list);
    for (; !s.is_nomem && s.track < fit->recordings[list.longest].step.shapes[0].n_tracks; s.track++)
        look_at_track(&s);
    plim_free(s.courses);
    if (s.is_nomem) {
        plim_step_turns_list_done(&list);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    *ret_list = list;
    return 0;
}

void plim_step_turns_done(struct plim_step_turns *turns)
{
    plim_free(turns->places);
    plim_free(turns->is_carried);
    *turns = (struct plim_step_turns){ .n_takes = 0 };
}

void plim_step_turns_list_done(struct plim_step_turns_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        plim_step_turns_done(&list->turns[i]);
    for (size_t i = 0; list->sites && i < list->n_recordings; i++)
        plim_free(list->sites[i]);
    plim_free(list->turns);
    plim_free(list->sites);
    *list = (struct plim_step_turns_list){ .n = 0 };
}

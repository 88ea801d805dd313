/* SPDX-License-Identifier: MIT */
#include "step/fit/turns/loops.h"

#include "base/mem.h"
#include "step/order.h"
#include "step/size.h"

#include <string.h>

struct maker {
    const struct plim_step_folds *folds;
    size_t first; /* the recording whose events are looked for in the braid */
    const struct plim_step_braid *braid;
    const struct plim_step_recording *const *recordings;
    struct plim_step_shape *shape;
    uint32_t *merged; /* [allocation of the first recording's track]: in the braid */
    uint32_t *places; /* [event of it]: in the braid */
    size_t track;
};

/* --- sizes --- */

static bool is_same_size(const struct plim_step_shape *shape, const struct plim_step_size *a,
                         const struct plim_step_size *b, const struct plim_step_term *terms)
{
    bool is_same = a->n_terms == b->n_terms && a->denominator == b->denominator && a->is_exact == b->is_exact &&
                   a->is_rest == b->is_rest && a->least_bytes == b->least_bytes &&
                   a->multiple_bytes == b->multiple_bytes && a->most_bytes == b->most_bytes &&
                   !memcmp(a->rounding, b->rounding, sizeof a->rounding);
    for (uint32_t i = 0; is_same && i < a->n_terms; i++)
        is_same = shape->terms[a->first_term + i].coefficient == terms[i].coefficient &&
                  !memcmp(shape->terms[a->first_term + i].power, terms[i].power, sizeof terms[i].power);
    return is_same;
}

/* The number of a size of this form; UINT32_MAX: out of memory. */
static uint32_t add_size(struct plim_step_shape *shape, const struct plim_step_form *form)
{
    const struct plim_step_size size = plim_step_form_size(form, 0);
    for (uint32_t i = 0; i < shape->n_sizes; i++) /* all steps of the optimizer have the same */
        if (is_same_size(shape, &shape->sizes[i], &size, form->term))
            return i;
    struct plim_step_size *sizes = plim_realloc(shape->sizes, shape->n_sizes + 1, sizeof *sizes);
    shape->sizes = sizes ? sizes : shape->sizes;
    struct plim_step_term *terms = plim_realloc(shape->terms, shape->n_terms + form->n_terms, sizeof *terms);
    shape->terms = terms ? terms : shape->terms;
    if (!sizes || !terms)
        return UINT32_MAX;
    sizes[shape->n_sizes] = size;
    sizes[shape->n_sizes].first_term = (uint32_t)shape->n_terms;
    memcpy(terms + shape->n_terms, form->term, form->n_terms * sizeof *form->term);
    shape->n_terms += form->n_terms;
    return (uint32_t)shape->n_sizes++;
}

/* False: out of memory. */
static bool set_size(struct maker *m, uint32_t id, const struct plim_step_form *form)
{
    const struct plim_step_track *track = &m->shape->tracks[m->track];
    if (!form->n_terms || id == PLIM_STEP_NO_ALLOCATION)
        return true;
    const uint32_t size = add_size(m->shape, form);
    track->allocations[id].size = size;
    return size != UINT32_MAX;
}

/* --- where the events of the first recording are --- */

static bool find_places(struct maker *m)
{
    const struct plim_step_recording *first = &m->folds->recordings[m->first];
    const struct plim_step_track *own = &first->step.shapes[0].tracks[m->track], *track = &m->shape->tracks[m->track];
    const uint32_t *of = m->braid->own[first->strand][m->track];
    size_t n = 0;
    m->merged = plim_alloc_unset((size_t)own->n_allocations + 1, sizeof *m->merged);
    m->places = plim_alloc_unset(own->n_events + 1, sizeof *m->places);
    if (!m->merged || !m->places)
        return false;
    for (uint32_t i = 0; i < track->n_allocations; i++)
        if (of[i] != PLIM_STEP_NO_ALLOCATION)
            m->merged[of[i]] = i;
    for (size_t i = 0; i < track->n_events; i++) {
        const struct plim_step_event *event = &track->events[i];
        if (!plim_step_event_has_id(event) || of[event->id] != PLIM_STEP_NO_ALLOCATION)
            m->places[n++] = (uint32_t)i;
    }
    return n == own->n_events;
}

/* --- loops --- */

static bool has_turns(const struct maker *m, const struct plim_step_form *turns)
{
    for (size_t i = 0; i < m->shape->n_points; i++)
        if (plim_step_form_pieces(turns, &m->shape->points[i]) > 1)
            return true;
    return false;
}

/* The sizes of the allocations around a repetition, and of those in it. */
static bool set_sizes(struct maker *m, const struct plim_step_turns *turns, const struct plim_step_turn_sizes *sizes)
{
    const uint32_t first = turns->places[m->first].first_id;
    bool is_done = true;
    for (uint32_t i = 0; is_done && i < turns->n_takes; i++) {
        const uint32_t before = first + i >= turns->n_takes ? m->merged[first + i - turns->n_takes] : UINT32_MAX;
        is_done = set_size(m, before, &sizes->first[i]) && set_size(m, m->merged[first + i], &sizes->last[i]);
    }
    for (uint32_t i = 0; is_done && i < turns->n_rest_takes; i++)
        is_done = set_size(m, m->merged[first + turns->n_takes + i], &sizes->rest[i]);
    return is_done;
}

static bool make_loop(struct maker *m, const struct plim_step_turns *turns, const struct plim_step_turn_sizes *sizes)
{
    struct plim_step_track *track = &m->shape->tracks[m->track];
    const struct plim_step_turns_place *place = &turns->places[m->first];
    const uint32_t start = m->places[place->first_event], end = m->places[place->first_event + turns->n_events - 1] + 1;
    struct plim_step_loop loop = { .first_event = start,
                                   .n_events = end - start,
                                   .first_mark = turns->n_marks ? place->first_mark : 0,
                                   .n_marks = turns->n_marks };
    uint32_t n = 0;
    if (!set_sizes(m, turns, sizes))
        return false;
    loop.turns = add_size(m->shape, &sizes->turns);
    for (uint32_t i = start; i < end; i++)
        loop.n_takes += track->events[i].kind == PLIM_STEP_TAKE;
    loop.sizes = plim_alloc((size_t)loop.n_takes + 1, sizeof *loop.sizes);
    bool is_done = loop.sizes && loop.turns != UINT32_MAX;
    for (uint32_t i = start; is_done && i < end; i++) {
        const uint32_t id = track->events[i].id;
        if (track->events[i].kind != PLIM_STEP_TAKE)
            continue;
        uint32_t own = UINT32_MAX; /* work areas may be among them */
        for (uint32_t k = 0; k < turns->n_takes && own == UINT32_MAX; k++)
            own = m->merged[place->first_id + k] == id ? k : UINT32_MAX;
        loop.sizes[n] = own == UINT32_MAX ? track->allocations[id].size : add_size(m->shape, &sizes->other[own]);
        is_done = loop.sizes[n++] != UINT32_MAX;
    }
    struct plim_step_loop *grown = is_done ? plim_realloc(track->loops, track->n_loops + 1, sizeof *grown) : NULL;
    if (!grown) {
        plim_free(loop.sizes);
        return false;
    }
    track->loops = grown;
    grown[track->n_loops++] = loop;
    return true;
}

/* --- what else stops to grow --- */

static uint64_t bytes_of(const struct maker *m, size_t point, size_t track, uint32_t id)
{
    const struct plim_step_recording *recording = m->recordings[point];
    const struct plim_step_shape *shape = &recording->step.shapes[0];
    const uint32_t own = m->braid->own[recording->strand][track][id];
    return own == PLIM_STEP_NO_ALLOCATION
               ? 0
               : plim_step_size_bytes(shape, shape->tracks[track].allocations[own].size, &shape->points[0]);
}

/* An allocation that its size does not meet: one that has a loop's whole, until that is one piece. */
static bool cap(struct maker *m, uint32_t id, uint64_t *bytes)
{
    struct plim_step_allocation *own = &m->shape->tracks[m->track].allocations[id];
    bool is_met = true;
    for (size_t i = 0; i < m->shape->n_points; i++) {
        bytes[i] = bytes_of(m, i, m->track, id);
        is_met = is_met && bytes[i] == plim_step_size_bytes(m->shape, own->size, &m->shape->points[i]);
    }
    for (size_t i = 0; !is_met && i < m->folds->list.n; i++) {
        const struct plim_step_form *turns = &m->folds->sizes[i].turns;
        struct plim_step_form form;
        if (turns->is_rest && turns->most_bytes > 1 &&
            plim_step_turn_sizes_cap(turns, m->shape->points, bytes, m->shape->n_points, &form))
            return set_size(m, id, &form);
    }
    return true;
}

static bool cap_all(struct maker *m)
{
    uint64_t *bytes = plim_alloc(m->shape->n_points + 1, sizeof *bytes);
    bool is_done = bytes != NULL;
    for (m->track = 0; is_done && m->track < m->shape->n_tracks; m->track++) {
        const struct plim_step_track *track = &m->shape->tracks[m->track];
        uint32_t next = 0; /* the sizes of loops are as they should be */
        for (size_t i = 0; is_done && i <= track->n_loops; i++) {
            const uint32_t end = i < track->n_loops ? track->loops[i].first_event : (uint32_t)track->n_events;
            for (; is_done && next < end; next++)
                if (track->events[next].kind == PLIM_STEP_TAKE)
                    is_done = cap(m, track->events[next].id, bytes);
            next = i < track->n_loops ? end + track->loops[i].n_events : next;
        }
    }
    plim_free(bytes);
    return is_done;
}

int plim_step_fit_loops(const struct plim_step_folds *folds, size_t first, const struct plim_step_braid *braid,
                        const struct plim_step_recording *const *recordings, struct plim_step_shape *shape,
                        struct plim_error *reterr)
{
    struct maker m = { .folds = folds, .first = first, .braid = braid, .recordings = recordings, .shape = shape };
    bool is_done = true;
    for (m.track = 0; is_done && m.track < shape->n_tracks; m.track++) {
        is_done = find_places(&m);
        for (size_t i = 0; is_done && i < folds->list.n; i++)
            if (folds->list.turns[i].track == m.track && has_turns(&m, &folds->sizes[i].turns))
                is_done = make_loop(&m, &folds->list.turns[i], &folds->sizes[i]);
        plim_free(m.merged);
        plim_free(m.places);
        m.merged = m.places = NULL;
    }
    is_done = is_done && cap_all(&m);
    return is_done ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

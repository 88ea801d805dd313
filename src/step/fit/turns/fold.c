/* SPDX-License-Identifier: MIT */
#include "step/fit/turns/fold.h"

#include "base/mem.h"
#include "step/order.h"

#include <string.h>

enum { MOST_MARKS = 8 /* of a repetition: turns.c has four */ };

/* A track that is folded at one loop. */
struct folding {
    const struct plim_step_track *from;
    const struct plim_step_turns *turns;
    struct plim_step_turns_place place;
    struct plim_step_track to;
};

static bool make_room(struct folding *f, size_t more_events, uint32_t more_allocations)
{
    f->to = *f->from;
    f->to.n_events = f->to.n_loops = 0;
    f->to.n_allocations = 0;
    f->to.loops = NULL;
    f->to.events = plim_alloc_unset(f->from->n_events + more_events + 1, sizeof *f->to.events);
    f->to.allocations =
        plim_alloc_unset((size_t)f->from->n_allocations + more_allocations + 1, sizeof *f->to.allocations);
    f->to.marks = plim_alloc_unset(f->from->n_marks + MOST_MARKS, sizeof *f->to.marks);
    return f->to.events && f->to.allocations && f->to.marks;
}

/* The marks of a loop over phases go with its events; a mark at the beginning of another loop stays. */
static void copy_marks(struct folding *f, int64_t events, int64_t marks, const struct plim_step_mark *more)
{
    const uint32_t first = f->place.first_mark;
    size_t n = 0;
    for (size_t i = 0; i < f->from->n_marks; i++) {
        struct plim_step_mark mark = f->from->marks[i];
        const bool is_before = f->turns->n_marks ? i < first : mark.event <= f->place.first_event;
        for (int64_t k = 0; i == first && k < marks; k++)
            f->to.marks[n++] = more[k];
        if (f->turns->n_marks && i >= first && (int64_t)i < first - marks)
            continue;
        mark.event = (uint32_t)(mark.event + (is_before ? 0 : events));
        f->to.marks[n++] = mark;
    }
    for (int64_t k = 0; first == f->from->n_marks && k < marks; k++)
        f->to.marks[n++] = more[k];
    f->to.n_marks = n;
}

/* All repetitions but the last go. What they knew of the turn before them, the last knows in their place. */
static bool cut(struct folding *f)
{
    const struct plim_step_turns_place *place = &f->place;
    const uint32_t n_events = (place->n - 1) * f->turns->n_events, n_ids = (place->n - 1) * f->turns->n_takes,
                   end = place->first_id + n_ids;
    if (!make_room(f, 0, 0))
        return false;
    for (size_t i = 0; i < f->from->n_events; i++) {
        if (i >= place->first_event && i < (size_t)place->first_event + n_events)
            continue;
        struct plim_step_event event = f->from->events[i];
        if (event.kind == PLIM_STEP_TAKE)
            f->to.allocations[f->to.n_allocations++] = f->from->allocations[event.id];
        if (plim_step_event_has_id(&event) &&
            event.id >= place->first_id) /* of the ones that go, only the last counts */
            event.id = event.id >= end || event.id + f->turns->n_takes >= end ? event.id - n_ids : UINT32_MAX;
        f->to.events[f->to.n_events++] = event;
    }
    copy_marks(f, -(int64_t)n_events, -(int64_t)((place->n - 1) * f->turns->n_marks), NULL);
    return true;
}

/* One repetition, like one of the longest recording, that takes nothing: what follows knows its allocations. */
static void put_repetition(struct folding *f, const struct plim_step_track *longest,
                           const struct plim_step_turns_place *there, const uint32_t *site_of)
{
    for (uint32_t i = 0; i < f->turns->n_events; i++) {
        struct plim_step_event event = longest->events[there->first_event + i];
        if (event.kind == PLIM_STEP_TAKE) {
            struct plim_step_allocation *made = &f->to.allocations[f->to.n_allocations];
            *made = longest->allocations[event.id];
            made->site = made->site == PLIM_STEP_NO_SITE ? made->site : site_of[made->site];
            made->size = UINT32_MAX; /* 0 bytes */
            event.id = f->to.n_allocations++;
        } else if (plim_step_event_has_id(&event)) {
            event.id = f->place.first_id + event.id - there->first_id; /* or so many before */
        }
        f->to.events[f->to.n_events++] = event;
    }
}

static bool stretch(struct folding *f, const struct plim_step_track *longest, const struct plim_step_turns_place *there,
                    const uint32_t *site_of)
{
    const uint32_t first = f->place.first_id, n = f->turns->n_takes;
    struct plim_step_mark more[MOST_MARKS];
    if (!make_room(f, f->turns->n_events, n))
        return false;
    for (size_t i = 0; i <= f->from->n_events; i++) {
        if (i == f->place.first_event)
            put_repetition(f, longest, there, site_of);
        if (i == f->from->n_events)
            break;
        struct plim_step_event event = f->from->events[i];
        if (event.kind == PLIM_STEP_TAKE) {
            f->to.allocations[f->to.n_allocations] = f->from->allocations[event.id];
            event.id = f->to.n_allocations++;
        } else if (plim_step_event_has_id(&event) && i >= f->place.first_event) {
            const bool is_before = event.id < first;
            if (!is_before || (event.id + n >= first && f->turns->is_carried[event.id + n - first]))
                event.id += n;
        }
        f->to.events[f->to.n_events++] = event;
    }
    for (uint32_t i = 0; i < f->turns->n_marks; i++) {
        more[i] = longest->marks[there->first_mark + i];
        more[i].event = f->place.first_event + more[i].event - there->first_event;
    }
    copy_marks(f, f->turns->n_events, f->turns->n_marks, more);
    return true;
}

static void track_done(struct plim_step_track *track)
{
    plim_free(track->events);
    plim_free(track->allocations);
    plim_free(track->marks);
}

/* --- recordings --- */

static void recording_done(struct plim_step_recording *recording)
{
    struct plim_step_shape *shape = recording->step.shapes;
    for (size_t i = 0; shape && i < shape->n_tracks; i++)
        track_done(&shape->tracks[i]);
    if (shape)
        plim_free(shape->tracks);
    plim_free(shape);
    recording->step.shapes = NULL;
}

/* The recording with tracks of its own; all else is that of the original. */
static bool recording_copy(const struct plim_step_recording *from, struct plim_step_recording *to)
{
    const struct plim_step_shape *shape = &from->step.shapes[0];
    bool is_done;
    *to = *from;
    to->is_folded = true;
    to->step.shapes = plim_alloc(1, sizeof *to->step.shapes);
    if (!to->step.shapes)
        return false;
    *to->step.shapes = *shape;
    to->step.shapes->n_tracks = 0;
    to->step.shapes->tracks = plim_alloc(shape->n_tracks + 1, sizeof *shape->tracks);
    is_done = to->step.shapes->tracks != NULL;
    for (size_t i = 0; is_done && i < shape->n_tracks; i++) {
        struct folding f = { .from = &shape->tracks[i] };
        is_done = make_room(&f, 0, 0);
        if (is_done) {
            memcpy(f.to.events, f.from->events, f.from->n_events * sizeof *f.to.events);
            memcpy(f.to.allocations, f.from->allocations, f.from->n_allocations * sizeof *f.to.allocations);
            memcpy(f.to.marks, f.from->marks, f.from->n_marks * sizeof *f.to.marks);
            f.to.n_events = f.from->n_events;
            f.to.n_allocations = f.from->n_allocations;
        }
        to->step.shapes->tracks[to->step.shapes->n_tracks++] = f.to;
    }
    return is_done;
}

/* The sites of the longest recording, in the numbers of another one; freed with plim_free(). */
static uint32_t *sites_from(const struct plim_step_fit *fit, const struct plim_step_turns_list *list, size_t recording)
{
    const size_t n = fit->recordings[list->longest].step.n_sites, n_own = fit->recordings[recording].step.n_sites;
    uint32_t *numbers = plim_alloc(n + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < n; i++) {
        numbers[i] = PLIM_STEP_NO_SITE;
        for (uint32_t k = 0; k < n_own && numbers[i] == PLIM_STEP_NO_SITE; k++)
            if (list->sites[recording][k] == list->sites[list->longest][i])
                numbers[i] = k;
    }
    return numbers;
}

/* The loop in one recording; later ones of the track move. */
static bool fold_one(const struct plim_step_fit *fit, struct plim_step_folds *folds, size_t number, size_t recording,
                     const uint32_t *sites, bool *ret_nomem)
{
    struct plim_step_turns_list *list = &folds->list;
    struct plim_step_turns *turns = &list->turns[number];
    struct plim_step_turns_place *place = &turns->places[recording];
    struct plim_step_track *track = &folds->recordings[recording].step.shapes->tracks[turns->track];
    struct folding f = { .from = track, .turns = turns, .place = *place };
    const struct plim_step_track *longest = &fit->recordings[list->longest].step.shapes[0].tracks[turns->track];
    const struct plim_step_turns_place *there = &turns->places[list->longest];
    if (place->n == 1)
        return true;
    *ret_nomem = place->n ? !cut(&f) : !stretch(&f, longest, there, sites);
    if (*ret_nomem || !plim_step_is_in_order(&f.to, ret_nomem)) {
        track_done(&f.to);
        return false;
    }
    const int64_t n = 1 - (int64_t)place->n;
    track_done(track);
    *track = f.to;
    for (size_t i = number + 1; i < list->n && list->turns[i].track == turns->track; i++) {
        struct plim_step_turns_place *later = &list->turns[i].places[recording];
        later->first_event = (uint32_t)(later->first_event + n * turns->n_events);
        later->first_id = (uint32_t)(later->first_id + n * turns->n_takes);
        later->first_mark = (uint32_t)(later->first_mark + n * turns->n_marks);
    }
    return true;
}

/*
 * All loops in one recording, from the last to the first: so the places of those that are still to be folded are right,
 * and there, in the longest, nothing has changed yet.
 */
static bool fold_recording(const struct plim_step_fit *fit, struct plim_step_folds *folds, size_t recording,
                           bool *ret_nomem)
{
    uint32_t *sites = sites_from(fit, &folds->list, recording);
    *ret_nomem = !sites || !recording_copy(&fit->recordings[recording], &folds->recordings[recording]);
    bool is_done = !*ret_nomem;
    for (size_t i = folds->list.n; is_done && i-- > 0;)
        is_done = fold_one(fit, folds, i, recording, sites, ret_nomem);
    plim_free(sites);
    return is_done;
}

static bool fold_all(const struct plim_step_fit *fit, struct plim_step_folds *folds, bool *ret_nomem)
{
    const size_t longest = folds->list.longest;
    bool is_done = true;
    *ret_nomem = false;
    for (size_t i = 0; is_done && i < fit->n_recordings; i++) {
        if (fit->recordings[i].shape == PLIM_STEP_NO_SHAPE)
            folds->recordings[i] = fit->recordings[i];
        else if (i != longest) /* its places are those of the others' template */
            is_done = fold_recording(fit, folds, i, ret_nomem);
    }
    return is_done && fold_recording(fit, folds, longest, ret_nomem);
}

/* --- which loops are known --- */

static int keep_known(const struct plim_step_fit *fit, struct plim_step_folds *folds, struct plim_error *reterr)
{
    struct plim_step_turns_list *list = &folds->list;
    size_t n = 0;
    int result = 0;
    folds->sizes = plim_alloc(list->n + 1, sizeof *folds->sizes);
    if (!folds->sizes)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    bool *is_known = plim_alloc(list->n + 1, sizeof *is_known);
    if (!is_known)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; result == 0 && i < list->n; i++)
        result = plim_step_turn_sizes_find(fit, list, i, &folds->sizes[i], &is_known[i], reterr);
    for (size_t i = 0; i < list->n; i++) {
        struct plim_step_turns turns = list->turns[i];
        const struct plim_step_turn_sizes sizes = folds->sizes[i];
        folds->sizes[i] = (struct plim_step_turn_sizes){ .first = NULL };
        if (is_known[i]) {
            folds->sizes[n] = sizes;
            list->turns[n++] = turns;
        } else {
            plim_step_turns_done(&turns);
        }
    }
    list->n = n;
    plim_free(is_known);
    return result;
}

int plim_step_fold(const struct plim_step_fit *fit, struct plim_step_folds *ret_folds, struct plim_error *reterr)
{
    struct plim_step_folds folds = { .recordings = NULL };
    bool is_nomem = false, is_done = false;
    int result = plim_step_turns_find(fit, &folds.list, reterr);
    if (result == 0 && folds.list.n)
        result = keep_known(fit, &folds, reterr);
    if (result == 0 && folds.list.n) {
        folds.recordings = plim_alloc(fit->n_recordings, sizeof *folds.recordings);
        is_done = folds.recordings && fold_all(fit, &folds, &is_nomem);
        if (is_nomem || !folds.recordings)
            result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    if (is_done)
        *ret_folds = folds;
    else
        *ret_folds = (struct plim_step_folds){ .recordings = NULL };
    if (!is_done) {
        folds.list.n_recordings = fit->n_recordings;
        plim_step_folds_done(&folds);
    }
    return result;
}

void plim_step_folds_done(struct plim_step_folds *folds)
{
    for (size_t i = 0; folds->recordings && i < folds->list.n_recordings; i++)
        if (folds->recordings[i].is_folded)
            recording_done(&folds->recordings[i]);
    plim_free(folds->recordings);
    for (size_t i = 0; folds->sizes && i < folds->list.n; i++)
        plim_step_turn_sizes_done(&folds->sizes[i]);
    plim_free(folds->sizes);
    plim_step_turns_list_done(&folds->list);
    *folds = (struct plim_step_folds){ .recordings = NULL };
}

/* SPDX-License-Identifier: MIT */
#include "step/fit/turns/sizes.h"

#include "base/mem.h"
#include "step/fit/wide.h"
#include "step/size.h"

#include <string.h>

#define NOT_KNOWN UINT64_MAX

struct search {
    const struct plim_step_fit *fit;
    const struct plim_step_turns_list *list;
    const struct plim_step_turns *turns;
    struct plim_step_turn_sizes *sizes;
    struct plim_step_point *points; /* of the recordings that a form is fitted to */
    uint64_t *bytes;
    struct plim_error *reterr;
    int result;
};

/* --- what was recorded --- */

static bool is_used(const struct search *s, size_t recording)
{
    return s->fit->recordings[recording].shape != PLIM_STEP_NO_SHAPE;
}

static uint32_t turns_of(const struct search *s, size_t recording) { return s->turns->places[recording].n + 1; }

static const struct plim_step_track *track_of(const struct search *s, size_t recording)
{
    return &s->fit->recordings[recording].step.shapes[0].tracks[s->turns->track];
}

static uint32_t site_of(const struct search *s, size_t recording, uint32_t id)
{
    const uint32_t own = track_of(s, recording)->allocations[id].site;
    return own < s->fit->recordings[recording].step.n_sites ? s->list->sites[recording][own] : PLIM_STEP_NO_SITE;
}

/*
 * The allocation that a turn, from 1 on, has at a place of the repetition; UINT32_MAX: none is known. The first takes
 * of a repetition are those of the end of a turn, and the others begin the next one.
 */
static uint32_t allocation_in(const struct search *s, size_t recording, uint32_t place, uint32_t turn)
{
    const struct plim_step_turns *t = s->turns;
    const struct plim_step_turns_place *where = &t->places[recording];
    if (place < t->n_rest_takes)
        return where->first_id + (turn - 1) * t->n_takes + place;
    if (turn > 1)
        return where->first_id + (turn - 2) * t->n_takes + place;
    if (t->n_marks)
        return UINT32_MAX;
    const uint32_t back = t->n_takes - place;
    const struct plim_step_turns_place *longest = &t->places[s->list->longest];
    if (where->first_id < back ||
        site_of(s, recording, where->first_id - back) != site_of(s, s->list->longest, longest->first_id + place))
        return UINT32_MAX;
    return where->first_id - back;
}

static uint64_t bytes_of(const struct search *s, size_t recording, uint32_t id)
{
    const struct plim_step_shape *shape = &s->fit->recordings[recording].step.shapes[0];
    return plim_step_size_bytes(shape, track_of(s, recording)->allocations[id].size, &shape->points[0]);
}

static uint64_t bytes_in(const struct search *s, size_t recording, uint32_t place, uint32_t turn)
{
    const uint32_t id = allocation_in(s, recording, place, turn);
    return id < track_of(s, recording)->n_allocations ? bytes_of(s, recording, id) : NOT_KNOWN;
}

/* --- the same in all turns, or pieces --- */

/* One size in all turns of a recording but the last `n`; NOT_KNOWN: several, or none is known. */
static uint64_t common(const struct search *s, size_t recording, uint32_t place, uint32_t n)
{
    uint64_t bytes = NOT_KNOWN;
    for (uint32_t turn = 1; turn + n <= turns_of(s, recording); turn++) {
        const uint64_t own = bytes_in(s, recording, place, turn);
        if (own == NOT_KNOWN && turn == 1)
            continue;
        if (own == NOT_KNOWN || (bytes != NOT_KNOWN && own != bytes))
            return NOT_KNOWN;
        bytes = own;
    }
    return bytes;
}

static bool is_same_in_all(const struct search *s, uint32_t place)
{
    for (size_t i = 0; i < s->fit->n_recordings; i++)
        if (is_used(s, i) && turns_of(s, i) > 1 && common(s, i, place, 0) == NOT_KNOWN)
            return false;
    return true;
}

/* The size of a piece; 0: these are no pieces. */
static uint64_t piece_of(const struct search *s, uint32_t place)
{
    uint64_t piece = 0;
    for (size_t i = 0; i < s->fit->n_recordings; i++) {
        if (!is_used(s, i) || turns_of(s, i) < 2)
            continue;
        const uint64_t last = bytes_in(s, i, place, turns_of(s, i));
        /* of two turns the first may not be known */
        const uint64_t own = common(s, i, place, 1);
        if (own == NOT_KNOWN && turns_of(s, i) == 2)
            continue;
        if (own == NOT_KNOWN || last == NOT_KNOWN || last > own || (piece && own != piece))
            return 0;
        piece = own;
    }
    return piece;
}

/* --- forms --- */

/*
 * Of the recordings that are not left out, if they are enough. wholes: of pieces, what all turns have; else what the
 * last one has.
 */
static bool fit(struct search *s, uint32_t place, uint64_t piece, bool takes_left_out, struct plim_step_form *ret_form)
{
    struct plim_step_former *former = NULL;
    size_t n = 0;
    bool is_met = true;
    for (size_t i = 0; i < s->fit->n_recordings; i++) {
        if (!is_used(s, i) || (!takes_left_out && s->fit->recordings[i].is_left_out))
            continue;
        const uint64_t last = bytes_in(s, i, place, turns_of(s, i));
        if (last == NOT_KNOWN)
            continue;
        s->points[n] = s->fit->recordings[i].point;
        s->bytes[n++] = last + (uint64_t)(turns_of(s, i) - 1) * piece;
        is_met = is_met && (!piece || (s->bytes[n - 1] + piece - 1) / piece == turns_of(s, i));
    }
    if (!n || !is_met)
        return false;
    s->result = plim_step_former_open(s->points, n, s->fit->n_variables, &former, s->reterr);
    if (s->result < 0)
        return false;
    plim_step_former_find(former, s->bytes, ret_form);
    plim_step_former_free(former);
    return ret_form->meets_all;
}

static bool fit_well(struct search *s, uint32_t place, uint64_t piece, struct plim_step_form *ret_form)
{
    return fit(s, place, piece, false, ret_form) || (s->result == 0 && fit(s, place, piece, true, ret_form));
}

static struct plim_step_form constant(uint64_t bytes)
{
    return (struct plim_step_form){ .n_terms = 1,
                                    .denominator = 1,
                                    .term = { { .coefficient = (int64_t)bytes } },
                                    .meets_all = true,
                                    .is_exact = true };
}

/* Else all turns are repetitions, and before them there is something else. */
static bool is_first_known(const struct search *s, uint32_t place)
{
    for (size_t i = 0; i < s->fit->n_recordings; i++)
        if (is_used(s, i) && allocation_in(s, i, place, 1) == UINT32_MAX)
            return false;
    return true;
}

/* False: neither the same nor pieces. */
static bool tell_place(struct search *s, uint32_t place)
{
    struct plim_step_turn_sizes *sizes = s->sizes;
    struct plim_step_form form;
    if (is_same_in_all(s, place)) {
        if (!fit_well(s, place, 0, &form))
            return false;
        sizes->other[place] = sizes->last[place] = form;
        return true;
    }
    const uint64_t piece = piece_of(s, place);
    if (!piece || piece >> 62 || !fit_well(s, place, piece, &form))
        return false;
    struct plim_step_form last = form;
    last.most_bytes = piece;
    last.is_rest = true;
    sizes->other[place] = constant(piece);
    if (place < s->turns->n_rest_takes) { /* the last turn is behind the repetitions */
        sizes->last[place] = constant(piece);
        sizes->rest[place] = last;
    } else {
        sizes->last[place] = last;
        if (is_first_known(s, place)) {
            sizes->first[place] = form;
            sizes->first[place].most_bytes = piece;
        }
    }
    if (!sizes->turns.n_terms)
        sizes->turns = last;
    return true;
}

/* --- how many turns --- */

static bool meets_turns(const struct search *s, const struct plim_step_form *turns)
{
    for (size_t i = 0; i < s->fit->n_recordings; i++)
        if (is_used(s, i) && plim_step_form_pieces(turns, &s->fit->recordings[i].point) != turns_of(s, i))
            return false;
    return true;
}

/* A loop without pieces of its own: a number of turns that a variable gives. */
static bool count_turns(struct search *s)
{
    struct plim_step_former *former = NULL;
    struct plim_step_form form;
    size_t n = 0;
    for (size_t i = 0; i < s->fit->n_recordings; i++)
        if (is_used(s, i)) {
            s->points[n] = s->fit->recordings[i].point;
            s->bytes[n++] = turns_of(s, i);
        }
    s->result = plim_step_former_open(s->points, n, s->fit->n_variables, &former, s->reterr);
    if (s->result < 0)
        return false;
    plim_step_former_find(former, s->bytes, &form);
    plim_step_former_free(former);
    form.most_bytes = 1;
    form.is_rest = true;
    s->sizes->turns = form;
    return form.is_exact && form.denominator == 1;
}

/*
 * Repetitions that give back all that they take leave memory as the first of them did, if they take the same: it does
 * not matter how many there are.
 */
static bool leaves_nothing(const struct search *s)
{
    bool is_same = true;
    for (size_t i = 0; is_same && i < s->fit->n_recordings; i++) {
        const struct plim_step_turns_place *place = &s->turns->places[i];
        const uint32_t n = place->n * s->turns->n_takes;
        is_same = !is_used(s, i) || place->n > 0;
        for (uint32_t k = 0; is_same && is_used(s, i) && k < n; k++)
            is_same = !s->turns->is_carried[k % s->turns->n_takes] &&
                      bytes_of(s, i, place->first_id + k) == bytes_of(s, i, place->first_id + k % s->turns->n_takes);
    }
    return is_same;
}

static bool tell(struct search *s)
{
    if (leaves_nothing(s))
        return true;
    for (uint32_t i = 0; i < s->turns->n_takes; i++)
        if (!tell_place(s, i))
            return false;
    return s->sizes->turns.n_terms ? meets_turns(s, &s->sizes->turns) : count_turns(s);
}

int plim_step_turn_sizes_find(const struct plim_step_fit *fit_of, const struct plim_step_turns_list *list,
                              size_t number, struct plim_step_turn_sizes *ret_sizes, bool *ret_is_known,
                              struct plim_error *reterr)
{
    const struct plim_step_turns *turns = &list->turns[number];
    struct plim_step_turn_sizes sizes = { .first = plim_alloc(turns->n_takes, sizeof *sizes.first),
                                          .other = plim_alloc(turns->n_takes, sizeof *sizes.other),
                                          .last = plim_alloc(turns->n_takes, sizeof *sizes.last),
                                          .rest = plim_alloc(turns->n_rest_takes + 1, sizeof *sizes.rest) };
    struct search s = { .fit = fit_of,
                        .list = list,
                        .turns = turns,
                        .sizes = &sizes,
                        .points = plim_alloc(fit_of->n_recordings, sizeof *s.points),
                        .bytes = plim_alloc(fit_of->n_recordings, sizeof *s.bytes),
                        .reterr = reterr };
    *ret_is_known = false;
    if (!sizes.first || !sizes.other || !sizes.last || !sizes.rest || !s.points || !s.bytes)
        s.result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (s.result == 0)
        *ret_is_known = tell(&s);
    if (s.result < 0)
        *ret_is_known = false;
    plim_free(s.points);
    plim_free(s.bytes);
    if (*ret_is_known)
        *ret_sizes = sizes;
    else
        plim_step_turn_sizes_done(&sizes);
    return s.result;
}

void plim_step_turn_sizes_done(struct plim_step_turn_sizes *sizes)
{
    plim_free(sizes->first);
    plim_free(sizes->other);
    plim_free(sizes->last);
    plim_free(sizes->rest);
    *sizes = (struct plim_step_turn_sizes){ .first = NULL };
}

/* --- outside of the loop --- */

uint64_t plim_step_form_pieces(const struct plim_step_form *form, const struct plim_step_point *point)
{
    struct plim_step_form own = *form;
    struct plim_step_size size = plim_step_form_size(form, 0);
    const struct plim_step_shape shape = { .sizes = &size, .n_sizes = 1, .terms = own.term, .n_terms = own.n_terms };
    return plim_step_size_pieces(&shape, 0, point);
}

/* The whole of the turns, times over / under. */
static bool scale(const struct plim_step_form *turns, uint64_t over, uint64_t under, struct plim_step_form *ret_form)
{
    bool is_inside = true;
    const plim_wide common = plim_wide_gcd((plim_wide)over, (plim_wide)under);
    plim_wide denominator = plim_wide_times(turns->denominator, (plim_wide)under / common, &is_inside), divisor;
    plim_wide terms[PLIM_STEP_FORM_TERMS] = { 0 };
    divisor = denominator;
    for (uint32_t i = 0; i < turns->n_terms; i++) {
        terms[i] = plim_wide_times(turns->term[i].coefficient, (plim_wide)over / common, &is_inside);
        divisor = plim_wide_gcd(divisor, terms[i]);
    }
    divisor = divisor ? divisor : 1;
    denominator /= divisor;
    is_inside = is_inside && denominator <= UINT32_MAX;
    *ret_form = *turns;
    ret_form->is_rest = false;
    ret_form->denominator = is_inside ? (uint32_t)denominator : 1;
    for (uint32_t i = 0; is_inside && i < turns->n_terms; i++) {
        is_inside = plim_wide_bits(terms[i] / divisor) <= 62;
        ret_form->term[i].coefficient = is_inside ? (int64_t)(terms[i] / divisor) : 0;
    }
    return is_inside;
}

bool plim_step_turn_sizes_cap(const struct plim_step_form *turns, const struct plim_step_point *points,
                              const uint64_t *bytes, size_t n, struct plim_step_form *ret_form)
{
    uint64_t most = 0;
    bool has_one = false, has_several = false;
    for (size_t i = 0; i < n; i++) {
        const bool is_one = plim_step_form_pieces(turns, &points[i]) == 1;
        has_one = has_one || is_one;
        has_several = has_several || !is_one;
        if (!is_one && most && bytes[i] != most)
            return false;
        most = is_one ? most : bytes[i];
    }
    if (!has_one || !has_several || !most || !scale(turns, most, turns->most_bytes, ret_form))
        return false;
    ret_form->most_bytes = most;
    for (size_t i = 0; i < n; i++)
        if (plim_step_form_bytes(ret_form, &points[i]) != bytes[i])
            return false;
    return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * The largest value of a variable with which a step never runs short of memory: from the recorded values on by
 * doubling, or between two bounds, and then by halving what is left between a value that fits and one that does not.
 * Then the same for values with which it runs at all, as PyTorch empties its cache where memory is short.
 */
#include "engine/torch/engine.h"

#include <string.h>

enum { MOST_TRIES = 200, MOST_DOUBLINGS = 40 };

enum answer { FITS, RUNS, FAILS, UNKNOWN }; /* runs: after PyTorch has made room */

struct tried {
    uint64_t value;
    enum answer answer;
};

struct search {
    struct plim_torch *engine;
    const struct plim_torch_wish *wish;
    const struct plim_machine *machine;
    struct plim_step_point point;
    uint32_t variable;
    struct plim_course_largest *largest;
    enum answer wanted;             /* at best: FITS, or RUNS */
    struct tried tried[MOST_TRIES]; /* n_tried of largest */
    int result;                     /* the first failure */
    struct plim_error *err;
};

/* How does the worst track run on its card? */
static int run_all(struct search *s, enum answer *ret_answer)
{
    *ret_answer = FITS;
    for (size_t i = 0; i < s->engine->scene.choice.shape->n_tracks && *ret_answer != FAILS; i++) {
        struct plim_torch_room room;
        struct plim_torch_result r = { 0 };
        const struct plim_card *card = &s->machine->card[plim_torch_device_of(s->engine, s->machine, i)];
        int result = plim_torch_room_of(s->engine, s->wish, i, card, &room, s->err);
        if (result == 0)
            result = plim_torch_tape_replay(&s->engine->scene.tapes[i], &room.conditions, &r, s->err);
        if (result < 0)
            return result;
        *ret_answer = r.n_ooms ? FAILS : r.n_short ? RUNS : *ret_answer;
    }
    return 0;
}

/* A value that has not been tried before. */
static enum answer replay(struct search *s, uint64_t value)
{
    struct plim_error error = { 0 };
    enum answer answer = FAILS;
    s->point.value[s->variable] = value;
    const int result = plim_torch_scene_make(s->engine, &s->point, &error);
    if (result == PLIM_E_UNSUPPORTED) {
        s->largest->unknown_at = s->largest->unknown_at ? s->largest->unknown_at : value;
        return UNKNOWN;
    }
    if (result == PLIM_E_TOO_BIG)
        return FAILS;
    if (result < 0 && s->err)
        *s->err = error;
    s->result = result < 0 ? result : run_all(s, &answer);
    return s->result == 0 ? answer : FAILS;
}

/* The search for values that run meets those again that the search for values that fit has tried. */
static enum answer try(struct search *s, uint64_t value)
{
    uint32_t at = 0;
    while (at < s->largest->n_tried && s->tried[at].value != value)
        at++;
    if (s->result < 0)
        return FAILS;
    if (at == MOST_TRIES)
        return UNKNOWN; /* what was not tried does not fail */
    if (at == s->largest->n_tried) {
        s->tried[at] = (struct tried){ value, replay(s, value) };
        s->largest->n_tried++;
    }
    const enum answer answer = s->tried[at].answer;
    return answer <= s->wanted ? s->wanted : answer == UNKNOWN ? UNKNOWN : FAILS;
}

/* The recorded values of the variable: the largest that is as wanted, and the least above. */
static void try_recorded(struct search *s, uint64_t *ret_good, uint64_t *ret_fails)
{
    const struct plim_step *step = s->engine->step;
    uint64_t at = UINT64_MAX;
    *ret_good = *ret_fails = 0;
    while (!*ret_good && s->result == 0) {
        uint64_t next = 0; /* the largest recorded value below */
        for (size_t i = 0; i < step->n_shapes; i++)
            for (size_t k = 0; k < step->shapes[i].n_points; k++) {
                const uint64_t value = step->shapes[i].points[k].value[s->variable];
                next = value < at && value > next ? value : next;
            }
        if (!next)
            break;
        const enum answer answer = try(s, next);
        if (answer == s->wanted)
            *ret_good = next;
        else if (answer == FAILS)
            *ret_fails = next;
        at = next;
    }
}

/* What is known; 0: nothing. */
struct edge {
    uint64_t good;  /* the largest value that is as wanted */
    uint64_t least; /* that is, where the low bound stands for smaller ones that cannot be told; else 0 */
    uint64_t end;   /* the least above that is not */
    uint64_t fails; /* ... and fails: what lies between two shapes of the step does not, and cannot be told */
};

static void lower_end(struct edge *edge, uint64_t value, enum answer answer)
{
    edge->end = value;
    edge->fails = answer == FAILS ? value : edge->fails;
}

/* Where the low bound is below all that is known: the least recorded value that is not, if it is as wanted; else 0. */
static uint64_t stand_in(struct search *s)
{
    const struct plim_step *step = s->engine->step;
    uint64_t least = 0;
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_points; k++) {
            const uint64_t value = step->shapes[i].points[k].value[s->variable];
            if (value > s->wish->max_low && value < s->wish->max_high && (!least || value < least))
                least = value;
        }
    if (!least || try(s, least) != s->wanted)
        return 0;
    s->largest->unknown_at = 0;
    return least;
}

/* The bounds of a range first, as rehearse/find.c has it: the same values are tried. */
static void try_bounds(struct search *s, struct edge *edge)
{
    const uint64_t bounds[] = { s->wish->max_low, s->wish->max_high };
    for (size_t i = 0; i < 2 && !edge->end; i++) {
        const enum answer answer = try(s, bounds[i]);
        if (i == 0 && answer == UNKNOWN && (edge->least = stand_in(s))) {
            edge->good = bounds[i]; /* the same values are tried between the bounds */
            continue;
        }
        if (answer == s->wanted)
            edge->good = bounds[i];
        else
            lower_end(edge, bounds[i], answer);
    }
    if (!edge->good)
        edge->end = 0; /* smaller values are not asked for */
}

static void double_up(struct search *s, struct edge *edge)
{
    for (unsigned i = 0; edge->good && !edge->end && i < MOST_DOUBLINGS && s->result == 0; i++) {
        const enum answer answer = try(s, edge->good * 2);
        if (answer == UNKNOWN)
            break;
        if (answer == s->wanted)
            edge->good *= 2;
        else
            lower_end(edge, edge->good * 2, answer);
    }
}

static void halve(struct search *s, struct edge *edge)
{
    while (edge->end > edge->good + 1 && s->result == 0) {
        const uint64_t middle = edge->good + (edge->end - edge->good) / 2;
        const enum answer answer = try(s, middle);
        if (answer == s->wanted)
            edge->good = middle;
        else
            lower_end(edge, middle, answer);
    }
}

static struct edge search(struct search *s, enum answer wanted)
{
    struct edge edge = { .good = 0 };
    s->wanted = wanted;
    if (s->wish->max_high) {
        try_bounds(s, &edge);
    } else {
        try_recorded(s, &edge.good, &edge.fails);
        edge.end = edge.fails;
        double_up(s, &edge);
    }
    halve(s, &edge);
    edge.good = edge.good < edge.least ? edge.least : edge.good;
    return edge;
}

static void look_at(struct search *s, uint64_t value)
{
    struct plim_course_largest *largest = s->largest;
    const uint64_t most = s->wish->max_high ? s->wish->max_high : UINT64_MAX;
    if (value > largest->fails_at && value <= most && !largest->fits_again && try(s, value) == FITS)
        largest->fits_again = value;
}

/* Some larger values: a step that needs less memory for a larger value is odd, and told of. */
static void look_beyond(struct search *s)
{
    const uint64_t fails_at = s->largest->fails_at, sixteenth = fails_at / 16;
    for (uint64_t i = 1; fails_at && i <= 8; i++)
        look_at(s, fails_at + i * (sixteenth > 8 ? sixteenth / 8 : 1));
    for (uint64_t eighths = 9; fails_at && eighths <= 16; eighths++)
        look_at(s, fails_at / 8 * eighths + fails_at % 8 * eighths / 8);
}

/* The largest value with which it runs: that it fits is met where the need does not grow steadily. */
static void look_for_room(struct search *s, uint64_t runs)
{
    struct plim_course_largest *largest = s->largest;
    s->wanted = FITS;
    if (runs <= largest->value)
        return;
    const enum answer answer = try(s, runs);
    if (answer == FAILS)
        largest->by_making_room = runs;
    else if (answer == FITS && runs > largest->fits_again)
        largest->fits_again = runs;
}

static void search_both(struct search *s)
{
    struct plim_course_largest *largest = s->largest;
    const struct edge fits = search(s, FITS);
    const uint64_t unknown_at = largest->unknown_at;
    largest->value = fits.good;
    largest->fails_at = fits.fails;
    look_beyond(s);
    if (fits.fails)
        look_for_room(s, search(s, RUNS).good);
    largest->unknown_at = unknown_at;
}

/* A program that computes gradients trains. */
static enum plim_task task_of(const struct plim_step *step)
{
    for (size_t i = 0; i < step->n_shapes; i++)
        for (size_t k = 0; k < step->shapes[i].n_tracks; k++)
            for (size_t m = 0; m < step->shapes[i].tracks[k].n_marks; m++) {
                const uint8_t phase = step->shapes[i].tracks[k].marks[m].phase;
                if (phase == PLIM_PHASE_BACKWARD || phase == PLIM_PHASE_STEP)
                    return PLIM_TASK_TRAIN;
            }
    return PLIM_TASK_INFER;
}

int plim_torch_settle(struct plim_engine *base, struct plim_setup *setup, const struct plim_machine *machine,
                      struct plim_error *reterr)
{
    struct plim_torch *engine = plim_torch_of(base);
    struct plim_torch_wish *wish = plim_torch_wish(setup);
    struct plim_course_largest largest = { .n_tried = 0 };
    struct search s = { .engine = engine, .wish = wish, .machine = machine, .largest = &largest, .err = reterr };
    setup->task = task_of(engine->step);
    if (!*wish->max || !machine->n_cards)
        return 0;
    int result = plim_torch_find_variable(engine->step, wish->max, &s.variable, reterr);
    if (result == 0)
        result = plim_torch_point_of(engine->step, wish, &s.point, reterr);
    if (result < 0)
        return result;
    const bool is_set = plim_torch_wish_has(wish, wish->max); /* the bill is of that value */
    const uint64_t given = wish->max_low ? wish->max_low : s.point.value[s.variable];
    search_both(&s);
    if (s.result < 0)
        return s.result;
    largest.variable = engine->step->variables[s.variable].name;
    wish->largest = largest;
    if (is_set)
        return 0;
    const uint64_t best = largest.value            ? largest.value
                          : largest.by_making_room ? largest.by_making_room
                                                   : largest.fits_again;
    return plim_torch_wish_set(wish, wish->max, best ? best : given, reterr);
}

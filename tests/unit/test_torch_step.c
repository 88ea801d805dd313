/* SPDX-License-Identifier: MIT */
/* A step at a point, replayed: beside the allocator itself, and by hand. */
#include "engine/torch/step.h"

#include "base/units.h"
#include "hand_step.h"

static struct plim_torch_conditions conditions_of(const char *conf, uint64_t capacity_bytes)
{
    struct plim_torch_conditions c = { .capacity_bytes = capacity_bytes };
    plim_torch_settings_init(&c.settings);
    assert_int_equal(plim_torch_settings_parse(&c.settings, conf, NULL), 0);
    return c;
}

/* --- by hand: weights, then activations that grow with B, then gradients in their place --- */

enum { WEIGHTS_LINE = 3, FORWARD_LINE = 20, STEP_LINE = 31 };

static void make_training(struct plim_step *step)
{
    *step = (struct plim_step){ .n_variables = 1, .variables = { { "B" } } };
    const uint32_t weights = hand_site(step, WEIGHTS_LINE), forward = hand_site(step, FORWARD_LINE),
                   line = hand_site(step, STEP_LINE);
    struct plim_step_shape *shape = hand_shape(step);
    const uint32_t constant = hand_size(shape, 64 * PLIM_MIB, 0), growing = hand_size(shape, 0, 32 * PLIM_MIB);
    hand_point(shape, 1, 0);
    hand_point(shape, 4, 0);
    struct plim_step_track *track = hand_track(shape);
    hand_take(track, constant, weights, PLIM_PILLAR_WEIGHTS, PLIM_PHASE_LOAD);
    hand_mark(track, 0, PLIM_PHASE_FORWARD);
    const uint32_t activations = hand_take(track, growing, forward, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    const uint32_t more = hand_take(track, growing, forward, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    hand_mark(track, 0, PLIM_PHASE_BACKWARD);
    const uint32_t gradients =
        hand_take(track, constant, PLIM_STEP_NO_SITE, PLIM_PILLAR_GRADIENTS, PLIM_PHASE_BACKWARD);
    hand_give(track, activations);
    hand_give(track, more);
    hand_mark(track, 0, PLIM_PHASE_STEP);
    hand_take(track, constant, line, PLIM_PILLAR_OPTIMIZER, PLIM_PHASE_STEP);
    hand_give(track, gradients);
}

static void test_moments(void **state)
{
    struct plim_step step;
    struct plim_torch_evaluation e;
    struct plim_error error = { 0 };
    const struct plim_torch_conditions c = conditions_of("", UINT64_MAX);
    (void)state;
    make_training(&step);
    assert_int_equal(plim_torch_step_evaluate(&step, &(struct plim_step_point){ { 4 } }, &c, &e, &error), 0);
    assert_int_equal(e.choice.source, PLIM_STEP_RECORDED);
    assert_int_equal(e.choice.point, 1);
    assert_int_equal(e.run.result.n_ooms, 0);
    assert_int_equal(e.allocated_peak_bytes, (64 + 2 * 128 + 64) * PLIM_MIB);
    assert_int_equal(e.reserved_peak_bytes, (64 + 2 * 128 + 64) * PLIM_MIB); /* the optimizer's state fits into it */
    assert_int_equal(e.run.binding.event, 3);
    assert_int_equal(e.run.binding.phase, PLIM_PHASE_BACKWARD);
    assert_int_equal(e.run.binding.pillar_bytes[PLIM_PILLAR_WEIGHTS], 64 * PLIM_MIB);
    assert_int_equal(e.run.binding.pillar_bytes[PLIM_PILLAR_ACTIVATIONS], 256 * PLIM_MIB);
    assert_int_equal(e.run.binding.pillar_bytes[PLIM_PILLAR_GRADIENTS], 64 * PLIM_MIB);
    assert_int_equal(e.run.binding.pillar_bytes[PLIM_PILLAR_OPTIMIZER], 0);
    assert_int_equal(e.run.binding.phase_bytes[PLIM_PHASE_FORWARD], 256 * PLIM_MIB);
    assert_int_equal(e.run.binding.n_sites, 3);
    assert_int_equal(step.sites[e.run.binding.sites[0].site].line, FORWARD_LINE);
    assert_int_equal(e.run.binding.sites[0].n, 2);
    assert_int_equal(e.run.binding.sites[0].pillar, PLIM_PILLAR_ACTIVATIONS);
    assert_int_equal(e.run.binding.sites[2].site, PLIM_STEP_NO_SITE);
    plim_step_done(&step);
}

static void test_oom(void **state)
{
    struct plim_step step;
    struct plim_torch_evaluation e;
    struct plim_error error = { 0 };
    const struct plim_torch_conditions c = conditions_of("", 300 * PLIM_MIB);
    (void)state;
    make_training(&step);
    assert_int_equal(plim_torch_step_evaluate(&step, &(struct plim_step_point){ { 4 } }, &c, &e, &error), 0);
    assert_int_equal(e.run.result.n_ooms, 1);
    assert_int_equal(e.run.result.oom_at, 2);
    assert_int_equal(e.run.oom_bytes, 128 * PLIM_MIB);
    assert_int_equal(e.run.oom.held_bytes, 192 * PLIM_MIB); /* not those that it did not get */
    assert_int_equal(e.run.oom.phase, PLIM_PHASE_FORWARD);
    assert_int_equal(e.reserved_peak_bytes, 192 * PLIM_MIB);
    plim_step_done(&step);
}

static void test_least(void **state)
{
    struct plim_step step;
    struct plim_torch_tape tape;
    struct plim_torch_result r;
    struct plim_error error = { 0 };
    uint64_t least_bytes;
    struct plim_torch_conditions c = conditions_of("", 0);
    (void)state;
    make_training(&step);
    const struct plim_step_shape *shape = &step.shapes[0];
    assert_int_equal(
        plim_torch_tape_make(&step, shape, &shape->tracks[0], &(struct plim_step_point){ { 2 } }, &tape, &error), 0);
    assert_int_equal(plim_torch_tape_least(&tape, &c, &least_bytes, &r, &error), 0);
    assert_int_equal(least_bytes, 256 * PLIM_MIB);
    c.capacity_bytes = least_bytes - 1;
    assert_int_equal(plim_torch_tape_replay(&tape, &c, &r, &error), 0);
    assert_int_equal(r.n_ooms, 1);
    c.settings.fraction = 0.01;
    c.card_bytes = PLIM_GIB;
    assert_int_equal(plim_torch_tape_least(&tape, &c, &least_bytes, &r, &error), 0);
    assert_true(least_bytes == UINT64_MAX && r.n_ooms == 1);
    plim_torch_tape_done(&tape);
    plim_step_done(&step);
}

static void test_beyond_all_numbers(void **state)
{
    struct plim_step step;
    struct plim_torch_evaluation e;
    struct plim_error error = { 0 };
    const struct plim_torch_conditions c = conditions_of("", UINT64_MAX);
    (void)state;
    make_training(&step);
    const struct plim_step_point point = { { UINT64_MAX } };
    assert_int_equal(plim_torch_step_evaluate(&step, &point, &c, &e, &error), PLIM_E_TOO_BIG);
    plim_step_done(&step);
}

/* --- beside the allocator --- */

enum { N_EVENTS = 4000, N_LIVE = 120 };

static void make_random(struct plim_step *step, uint64_t *random)
{
    uint32_t live[N_LIVE], n_live = 0;
    *step = (struct plim_step){ .n_variables = 1, .variables = { { "B" } } };
    for (uint32_t i = 0; i < 40; i++)
        hand_site(step, i);
    struct plim_step_shape *shape = hand_shape(step);
    hand_point(shape, 2, 0);
    hand_point(shape, 9, 0);
    for (uint32_t i = 0; i < 60; i++)
        hand_size(shape, (int64_t)random_below(random, UINT64_C(1) << (8 + i % 17)),
                  (int64_t)random_below(random, UINT64_C(1) << (6 + i % 17)));
    struct plim_step_track *track = hand_track(shape);
    track->n_streams = 2;
    while (track->n_events < N_EVENTS) {
        if (n_live < N_LIVE && random_below(random, 100) < 55) {
            live[n_live++] = hand_take(track, (uint32_t)random_below(random, 60), (uint32_t)random_below(random, 41),
                                       (unsigned)random_below(random, PLIM_PILLAR_MAX_ + 1),
                                       (unsigned)random_below(random, PLIM_PHASE_MAX_ + 1));
            track->events[track->n_events - 1].stream = random_below(random, 8) == 0;
        } else if (n_live) {
            const size_t i = random_below(random, n_live);
            hand_give(track, live[i]);
            live[i] = live[--n_live];
        }
        if (random_below(random, 300) == 0)
            HAND_ADD(track->events, track->n_events, (struct plim_step_event){ .kind = PLIM_STEP_EMPTY });
    }
}

/* The allocator itself, on events that are written out here; up to the event `last`. */
static struct plim_torch_result run_direct(const struct plim_step *step, uint64_t b,
                                           const struct plim_torch_conditions *c, size_t last)
{
    const struct plim_step_shape *shape = &step->shapes[0];
    const struct plim_step_track *track = &shape->tracks[0];
    const struct plim_torch_setup setup = { .settings = c->settings,
                                            .capacity_bytes = c->capacity_bytes,
                                            .n_ids = track->n_allocations,
                                            .n_streams = track->n_streams,
                                            .n_pools = track->n_pools };
    struct plim_torch_allocator *allocator;
    struct plim_torch_result result;
    assert_int_equal(plim_torch_allocator_open(&setup, &allocator, NULL), 0);
    for (size_t i = 0; i <= last && i < track->n_events; i++) {
        const struct plim_step_event *from = &track->events[i];
        struct plim_torch_event event = { .id = from->id, .stream = from->stream, .kind = from->kind };
        if (from->kind == PLIM_STEP_TAKE) {
            const struct plim_step_size *size = &shape->sizes[track->allocations[from->id].size];
            const struct plim_step_term *term = &shape->terms[size->first_term];
            event.bytes = (uint64_t)term[0].coefficient;
            event.bytes += size->n_terms > 1 ? (uint64_t)term[1].coefficient * b : 0;
        }
        assert_int_equal(plim_torch_allocator_run(allocator, &event, 1, NULL), 0);
        if (plim_torch_allocator_result(allocator)->n_ooms)
            break;
    }
    result = *plim_torch_allocator_result(allocator);
    plim_torch_allocator_free(allocator);
    return result;
}

static void hold_moment(const struct plim_step *step, uint64_t b, const struct plim_torch_conditions *c,
                        const struct plim_torch_moment *moment)
{
    const struct plim_torch_result then = run_direct(step, b, c, moment->event);
    uint64_t by_pillar = 0, by_phase = 0, by_site = moment->other_sites_bytes;
    for (unsigned i = 0; i <= PLIM_PILLAR_MAX_; i++)
        by_pillar += moment->pillar_bytes[i];
    for (unsigned i = 0; i <= PLIM_PHASE_MAX_; i++)
        by_phase += moment->phase_bytes[i];
    for (unsigned i = 0; i < moment->n_sites; i++)
        by_site += moment->sites[i].bytes;
    assert_int_equal(moment->held_bytes, then.requested_bytes);
    assert_int_equal(by_pillar, then.requested_bytes);
    assert_int_equal(by_phase, then.requested_bytes);
    assert_int_equal(by_site, then.requested_bytes);
}

static void test_random(void **state)
{
    static const char *const confs[] = { "", "expandable_segments:True", "max_split_size_mb:32",
                                         "roundup_power2_divisions:4" };
    uint64_t random = random_seed();
    size_t n_ooms = 0, n_retries = 0;
    (void)state;
    for (unsigned round = 0; round < 16; round++) {
        struct plim_step step;
        make_random(&step, &random);
        const uint64_t b = 2 + random_below(&random, 12);
        const struct plim_step_point point = { { b } };
        const struct plim_torch_conditions unlimited = conditions_of(confs[round % COUNT(confs)], UINT64_MAX);
        const uint64_t peak = run_direct(&step, b, &unlimited, SIZE_MAX - 1).reserved_peak_bytes;
        for (unsigned tenths = 4; tenths <= 10; tenths++) {
            const struct plim_torch_conditions c = conditions_of(confs[round % COUNT(confs)], peak / 10 * tenths);
            const struct plim_torch_result direct = run_direct(&step, b, &c, SIZE_MAX - 1);
            struct plim_torch_evaluation e;
            assert_int_equal(plim_torch_step_evaluate(&step, &point, &c, &e, NULL), 0);
            assert_memory_equal(&e.run.result, &direct, sizeof direct);
            hold_moment(&step, b, &c, &e.run.binding);
            hold_moment(&step, b, &c, &e.run.fullest);
            if (direct.n_ooms)
                hold_moment(&step, b, &c, &e.run.oom);
            n_ooms += direct.n_ooms;
            n_retries += direct.n_retries;
        }
        plim_step_done(&step);
    }
    print_message("%zu out of memory, %zu retries\n", n_ooms, n_retries);
    assert_true(n_ooms > 10 && n_retries > 10);
}

/* --- the worst of several ranks --- */

static void test_ranks(void **state)
{
    struct plim_step step = { .n_variables = 0 };
    struct plim_torch_evaluation e;
    const struct plim_torch_conditions c = conditions_of("", UINT64_MAX), small = conditions_of("", 90 * PLIM_MIB);
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    hand_point(shape, 0, 0);
    for (int rank = 0; rank < 3; rank++) {
        static const int64_t mib[] = { 40, 100, 60 };
        const uint32_t size = hand_size(shape, mib[rank] * (int64_t)PLIM_MIB, 0);
        hand_take(hand_track(shape), size, PLIM_STEP_NO_SITE, PLIM_PILLAR_WEIGHTS, PLIM_PHASE_LOAD);
    }
    assert_int_equal(plim_torch_step_evaluate(&step, &(struct plim_step_point){ { 0 } }, &c, &e, NULL), 0);
    assert_int_equal(e.track, 1);
    assert_int_equal(e.reserved_peak_bytes, 100 * PLIM_MIB);
    assert_int_equal(plim_torch_step_evaluate(&step, &(struct plim_step_point){ { 0 } }, &small, &e, NULL), 0);
    assert_int_equal(e.track, 1);
    assert_int_equal(e.run.result.n_ooms, 1);
    assert_int_equal(e.reserved_peak_bytes, 60 * PLIM_MIB);
    plim_step_done(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments), cmocka_unit_test(test_oom),   cmocka_unit_test(test_least),
        cmocka_unit_test(test_random),  cmocka_unit_test(test_ranks), cmocka_unit_test(test_beyond_all_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* From recordings to a step: forms that are found again, recordings that are alike, and what must not be called exact.
 */
#include "step/fit/fit.h"

#include "engine/torch/tape.h"
#include "hand_step.h"
#include "step/choose.h"
#include "step/file.h"
#include "step/fit/align.h"
#include "step/fit/form.h"
#include "step/size.h"

enum { N_DESIGN = 6 };

/* Base, each variable alone, one crossed point: what --vary B=2,3,4 --vary S=... records for a fit. */
static void design(struct plim_step_point points[N_DESIGN], const uint64_t s[3])
{
    static const uint8_t order[N_DESIGN][2] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 0, 1 }, { 0, 2 }, { 1, 1 } };
    for (size_t i = 0; i < N_DESIGN; i++)
        points[i] = (struct plim_step_point){ { 2 + order[i][0], s[order[i][1]] } };
}

static uint64_t value_of(const struct plim_step_form *form, const struct plim_step_point *point)
{
    return plim_step_form_bytes(form, point);
}

static struct plim_step_form form_at(const struct plim_step_point *points, size_t n, uint32_t n_variables,
                                     const uint64_t *bytes)
{
    struct plim_error error = { 0 };
    struct plim_step_former *former = NULL;
    struct plim_step_form form = { 0 };
    assert_int_equal(plim_step_former_open(points, n, n_variables, &former, &error), 0);
    plim_step_former_find(former, bytes, &form);
    plim_step_former_free(former);
    return form;
}

/* --- forms --- */

static void test_forms_by_hand(void **state)
{
    static const uint64_t s[3] = { 100, 160, 250 }; /* no multiples of what is rounded */
    static const struct {
        const char *name;
        struct plim_step_form form;
        bool is_exact;
    } rows[] = {
        { "hidden state", { .n_terms = 1, .denominator = 1, .term = { { 2 * 256, { 1, 1 } } } }, true },
        { "logits", { .n_terms = 1, .denominator = 1, .term = { { 4 * 32000, { 1, 1 } } } }, true },
        { "scores", { .n_terms = 1, .denominator = 1, .term = { { 2 * 8, { 1, 2 } } } }, true },
        { "weights", { .n_terms = 1, .denominator = 1, .term = { { 123456, { 0 } } } }, true },
        { "packed", { .n_terms = 1, .denominator = 8, .term = { { 64 * 3, { 1, 1 } } } }, true },
        { "tokens and one more",
          { .n_terms = 2, .denominator = 1, .term = { { 8, { 1, 0 } }, { 8, { 1, 1 } } } },
          true },
        { "without the last", { .n_terms = 2, .denominator = 1, .term = { { -8, { 1, 0 } }, { 8, { 1, 1 } } } }, true },
        { "work area", { .n_terms = 2, .denominator = 1, .term = { { 294912, { 0 } }, { 24, { 1, 2 } } } }, true },
        { "patches", { .n_terms = 2, .denominator = 4, .term = { { 4096, { 1, 0 } }, { 16, { 1, 2 } } } }, true },
        { "logsumexp", { .n_terms = 1, .denominator = 1, .term = { { 32, { 1, 1 } } }, .rounding = { 0, 5 } }, true },
        { "a parabola of three numbers through three values",
          { .n_terms = 3, .denominator = 1, .term = { { 700, { 1, 0 } }, { 30, { 1, 1 } }, { 8, { 1, 2 } } } },
          false },
    };
    (void)state;
    struct plim_step_point points[N_DESIGN];
    design(points, s);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t bytes[N_DESIGN];
        for (size_t k = 0; k < N_DESIGN; k++)
            bytes[k] = value_of(&rows[i].form, &points[k]);
        const struct plim_step_form found = form_at(points, N_DESIGN, 2, bytes);
        const struct plim_step_point beyond = { { 16, 4111 } };
        if (!found.meets_all || found.is_exact != rows[i].is_exact ||
            value_of(&found, &beyond) != value_of(&rows[i].form, &beyond))
            fail_msg("%s: %d %d %llu instead of %llu", rows[i].name, found.meets_all, found.is_exact,
                     (unsigned long long)value_of(&found, &beyond),
                     (unsigned long long)value_of(&rows[i].form, &beyond));
    }
}

/* What is exact at recorded points only because there are so few of them. */
static void test_too_few_points(void **state)
{
    (void)state;
    const struct plim_step_point three[] = { { { 1 } }, { { 2 } }, { { 3 } } };
    assert_false(form_at(three, 3, 1, (uint64_t[]){ 7, 20, 47 }).is_exact);      /* any parabola */
    assert_true(form_at(three, 3, 1, (uint64_t[]){ 512, 1024, 1536 }).is_exact); /* 512 B */
    assert_true(form_at(three, 3, 1, (uint64_t[]){ 612, 1124, 1636 }).is_exact); /* 512 B + 100 */
    assert_false(form_at(three, 2, 1, (uint64_t[]){ 612, 1124 }).is_exact);      /* any line */
    assert_true(form_at(three, 2, 1, (uint64_t[]){ 512, 1024 }).is_exact);       /* B, not B^2 */
    assert_true(form_at(three, 1, 1, (uint64_t[]){ 612 }).is_exact);             /* no other value is asked for */
    /* All values are rounded up to the same by several tiles. */
    const struct plim_step_point tiles[] = { { { 500 } }, { { 1000 } }, { { 2000 } }, { { 4000 } } };
    const struct plim_step_form tiled = form_at(tiles, 4, 1, (uint64_t[]){ 4096, 8192, 16384, 32768 });
    assert_false(tiled.is_exact);
    assert_int_equal(value_of(&tiled, &(struct plim_step_point){ { 8000 } }), 8 * 8064);
}

/* Where no form has all sizes, the nearest is below none of them, and not called exact. */
static void test_nearest_above(void **state)
{
    static const uint64_t s[3] = { 512, 1024, 2048 };
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct plim_step_point points[N_DESIGN];
        uint64_t bytes[N_DESIGN];
        design(points, s);
        for (size_t i = 0; i < N_DESIGN; i++)
            bytes[i] = 1 + (random_below(&seed, 2) ? points[i].value[0] * points[i].value[1] * 64 : 0) +
                       random_below(&seed, UINT64_C(1) << (4 + round % 30));
        const struct plim_step_form form = form_at(points, N_DESIGN, 2, bytes);
        for (size_t i = 0; i < N_DESIGN; i++)
            if (value_of(&form, &points[i]) < bytes[i])
                fail_msg("round %d, point %zu: %llu below %llu", round, i,
                         (unsigned long long)value_of(&form, &points[i]), (unsigned long long)bytes[i]);
        assert_true(!form.is_exact || form.meets_all);
    }
}

/* Small sizes that follow nothing stay small: no high power of a variable is written with too large a coefficient. */
static void test_nearest_above_is_near(void **state)
{
    static const uint64_t s[3] = { 512, 1024, 2048 };
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct plim_step_point points[N_DESIGN], far;
        uint64_t bytes[N_DESIGN], most = 0;
        design(points, s);
        for (size_t i = 0; i < N_DESIGN; i++) {
            bytes[i] = 1000 + random_below(&seed, 300);
            most = bytes[i] > most ? bytes[i] : most;
        }
        const struct plim_step_form form = form_at(points, N_DESIGN, 2, bytes);
        for (size_t i = 0; i < N_DESIGN && !form.meets_all; i++)
            if (value_of(&form, &points[i]) > 2 * most)
                fail_msg("round %d, point %zu: %llu for %llu", round, i,
                         (unsigned long long)value_of(&form, &points[i]), (unsigned long long)bytes[i]);
        far = points[0];
        far.value[1] = 4 * s[2];
        assert_true(form.meets_all || value_of(&form, &far) < 1000 * most);
    }
}

static struct plim_step_form draw_form(uint64_t *seed)
{
    struct plim_step_form form = { .n_terms = 1 + (uint32_t)random_below(seed, 2), .denominator = 1 };
    const uint8_t powers[][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 }, { 1, 2 } };
    const size_t first = random_below(seed, COUNT(powers) - 1);
    const size_t second = first + 1 + random_below(seed, COUNT(powers) - 1 - first);
    const size_t one = form.n_terms == 1 ? random_below(seed, COUNT(powers)) : first;
    memcpy(form.term[0].power, powers[one], 2);
    memcpy(form.term[1].power, powers[second], 2);
    for (uint32_t i = 0; i < form.n_terms; i++)
        form.term[i].coefficient = (int64_t)(1 + random_below(seed, UINT64_C(1) << (1 + random_below(seed, 24))));
    if (form.n_terms == 1 && one >= 2 && random_below(seed, 3) == 0)
        form.rounding[1] = 5 + (uint8_t)random_below(seed, 3);
    return form;
}

/* Random forms come back, to the byte, four times beyond; a wrong size is noticed. */
static void test_forms_at_random(void **state)
{
    static const uint64_t s[3] = { 100, 300, 777 };
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 1000; round++) {
        struct plim_step_point points[N_DESIGN];
        uint64_t bytes[N_DESIGN];
        const struct plim_step_form drawn = draw_form(&seed);
        design(points, s);
        for (size_t i = 0; i < N_DESIGN; i++)
            bytes[i] = value_of(&drawn, &points[i]);
        const struct plim_step_form found = form_at(points, N_DESIGN, 2, bytes);
        const struct plim_step_point beyond = { { 2 + random_below(&seed, 14), 64 + random_below(&seed, 3000) } };
        if (!found.is_exact || value_of(&found, &beyond) != value_of(&drawn, &beyond))
            fail_msg("round %d: %lld at B^%d S^%d, %u terms, rounding %d", round, (long long)drawn.term[0].coefficient,
                     drawn.term[0].power[0], drawn.term[0].power[1], drawn.n_terms, drawn.rounding[1]);
        bytes[random_below(&seed, N_DESIGN)] += 1 + random_below(&seed, 1000);
        const struct plim_step_form wrong = form_at(points, N_DESIGN, 2, bytes);
        if (wrong.is_exact && wrong.n_terms <= 2 && value_of(&wrong, &beyond) == value_of(&drawn, &beyond))
            fail_msg("round %d: a wrong size was not noticed", round);
    }
}

/* --- recordings --- */

enum { N_TAKES = 60, N_FORMS = 8 };

struct program {
    struct plim_step_form forms[N_FORMS];
    uint64_t seed;
};

/* A program that takes and returns at random, the same at all points; sizes by its forms. */
static struct plim_step record(const struct program *program, struct plim_step_point point)
{
    struct plim_step step = { .torch_version = "2.15.0" };
    struct plim_step_shape *shape = hand_shape(&step);
    uint64_t seed = program->seed;
    uint32_t held[N_TAKES], n_held = 0;
    hand_point(shape, 0, 0);
    hand_site(&step, 1);
    hand_site(&step, 2);
    hand_track(shape);
    shape->tracks[0].end = PLIM_STEP_END_EXIT;
    for (int i = 0; i < N_TAKES; i++) {
        const struct plim_step_form *form = &program->forms[random_below(&seed, N_FORMS)];
        const uint32_t size = hand_size(shape, (int64_t)value_of(form, &point), 0);
        held[n_held++] = hand_take(&shape->tracks[0], size, (uint32_t)random_below(&seed, 2), PLIM_PILLAR_ACTIVATIONS,
                                   PLIM_PHASE_FORWARD);
        while (n_held && random_below(&seed, 3)) {
            const size_t which = random_below(&seed, n_held);
            hand_give(&shape->tracks[0], held[which]);
            held[which] = held[--n_held];
        }
        if (i == N_TAKES / 2)
            hand_mark(&shape->tracks[0], 1, PLIM_PHASE_FORWARD);
    }
    return step;
}

static void draw_program(struct program *program, uint64_t *seed)
{
    program->seed = random_next(seed) | 1;
    for (size_t i = 0; i < N_FORMS; i++)
        program->forms[i] = draw_form(seed);
}

static struct plim_step_fit record_all(const struct program *program, struct plim_step_recording *recordings,
                                       const struct plim_step_point *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        recordings[i] = (struct plim_step_recording){ .step = record(program, points[i]), .point = points[i] };
    return (struct plim_step_fit){ .recordings = recordings,
                                   .n_recordings = n,
                                   .variables = { { "B" }, { "S" } },
                                   .n_variables = 2,
                                   .command = "python train.py {B} {S}" };
}

static void forget(struct plim_step_fit *fit)
{
    for (size_t i = 0; i < fit->n_recordings; i++)
        plim_step_done(&fit->recordings[i].step);
}

/* One shape, which has every size at points that nobody recorded, and can be written to a file. */
static void test_fit(void **state)
{
    static const uint64_t s[3] = { 100, 300, 777 };
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct program program;
        struct plim_step_point points[N_DESIGN];
        struct plim_step_recording recordings[N_DESIGN];
        struct plim_step step;
        struct plim_error error = { 0 };
        struct plim_step_fit_counts counts;
        design(points, s);
        draw_program(&program, &seed);
        struct plim_step_fit fit = record_all(&program, recordings, points, N_DESIGN);
        assert_int_equal(plim_step_fit(&fit, &step, &error), 0);
        assert_int_equal(step.n_shapes, 1);
        assert_int_equal(step.shapes[0].n_points, N_DESIGN);
        assert_string_equal(plim_step_text(&step, step.command), "python train.py {B} {S}");
        plim_step_fit_count(&step.shapes[0], &counts);
        assert_int_equal(counts.n_near, 0);
        assert_int_equal(counts.n_allocations, N_TAKES);
        assert_true(counts.n_exact <= N_FORMS);
        const struct plim_step_point beyond = { { 2 + random_below(&seed, 14), 64 + random_below(&seed, 3000) } };
        struct plim_step truth = record(&program, beyond);
        const struct plim_step_track *track = &step.shapes[0].tracks[0], *own = &truth.shapes[0].tracks[0];
        for (uint32_t i = 0; i < N_TAKES; i++)
            assert_int_equal(plim_step_size_bytes(&step.shapes[0], track->allocations[i].size, &beyond),
                             plim_step_size_bytes(&truth.shapes[0], own->allocations[i].size, &beyond));
        unsigned char *bytes = NULL;
        size_t n_bytes = 0;
        if (plim_step_encode(&step, &bytes, &n_bytes, &error) < 0)
            fail_msg("%s", error.what);
        plim_free(bytes);
        plim_step_done(&truth);
        plim_step_done(&step);
        forget(&fit);
    }
}

/* --- other orders --- */

static void swap_events(struct plim_step *step, size_t a, size_t b)
{
    struct plim_step_event *events = step->shapes[0].tracks[0].events, own = events[a];
    events[a] = events[b];
    events[b] = own;
}

static struct plim_torch_result replay(const struct plim_step *step, const char *settings)
{
    struct plim_error error = { 0 };
    struct plim_torch_tape tape;
    struct plim_torch_conditions conditions = { .capacity_bytes = UINT64_C(1) << 36 };
    struct plim_torch_result result;
    plim_torch_settings_init(&conditions.settings);
    assert_int_equal(plim_torch_settings_parse(&conditions.settings, settings, &error), 0);
    const struct plim_step_shape *shape = &step->shapes[0];
    assert_int_equal(plim_torch_tape_make(step, shape, &shape->tracks[0], &shape->points[0], &tape, &error), 0);
    assert_int_equal(plim_torch_tape_replay(&tape, &conditions, &result, &error), 0);
    plim_torch_tape_done(&tape);
    return result;
}

/* Returns side by side may come in any order, and the allocator does not notice. */
static void test_returns_in_any_order(void **state)
{
    static const char *const settings[] = { "", "expandable_segments:True", "max_split_size_mb:32" };
    static const struct plim_step_point point = { { 8, 4096 } };
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct program program;
        draw_program(&program, &seed);
        struct plim_step a = record(&program, point), b = record(&program, point);
        const struct plim_step_track *track = &b.shapes[0].tracks[0];
        for (int i = 0; i < 200; i++) { /* but none across a mark */
            const size_t at = 1 + random_below(&seed, track->n_events - 1);
            if (track->events[at - 1].kind == PLIM_STEP_GIVE && track->events[at].kind == PLIM_STEP_GIVE &&
                track->marks[0].event != at)
                swap_events(&b, at - 1, at);
        }
        for (size_t i = 0; i < COUNT(settings); i++) {
            const struct plim_torch_result x = replay(&a, settings[i]), y = replay(&b, settings[i]);
            assert_int_equal(x.reserved_peak_bytes, y.reserved_peak_bytes);
            assert_int_equal(x.reserved_bytes, y.reserved_bytes);
            assert_int_equal(x.allocated_peak_bytes, y.allocated_peak_bytes);
            assert_int_equal(x.inactive_split_bytes, y.inactive_split_bytes);
        }
        plim_step_sort_returns(&a);
        plim_step_sort_returns(&b);
        assert_true(plim_step_are_alike(&a, &b));
        plim_step_done(&a);
        plim_step_done(&b);
    }
}

/* A return that comes after the next request, another line, another mark, another size: only the last is alike. */
static void test_other_orders(void **state)
{
    static const struct plim_step_point point = { { 8, 4096 } };
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct program program;
        draw_program(&program, &seed);
        struct plim_step a = record(&program, point), b = record(&program, point);
        struct plim_step_track *track = &b.shapes[0].tracks[0];
        size_t at = 1;
        switch (round % 4) {
        case 0:
            while (track->events[at - 1].kind != PLIM_STEP_GIVE || track->events[at].kind != PLIM_STEP_TAKE)
                at++;
            swap_events(&b, at - 1, at);
            break;
        case 1:
            track->allocations[random_below(&seed, N_TAKES)].site ^= 1;
            break;
        case 2:
            track->marks[0].event++;
            break;
        default:
            track->allocations[random_below(&seed, N_TAKES)].size ^= 1;
        }
        plim_step_sort_returns(&a);
        plim_step_sort_returns(&b);
        assert_int_equal(plim_step_are_alike(&a, &b), round % 4 == 3);
        plim_step_done(&a);
        plim_step_done(&b);
    }
}

/* B = 1 has an order of its own: two shapes, and what lies in one box or the other has its own sizes. */
static void test_two_shapes(void **state)
{
    enum { N = 7 };
    static const struct plim_step_point points[N] = { { { 1, 64 } },  { { 2, 64 } },  { { 3, 64 } }, { { 4, 64 } },
                                                      { { 2, 128 } }, { { 2, 192 } }, { { 4, 192 } } };
    uint64_t seed = random_seed();
    struct program program;
    struct plim_step_recording recordings[N];
    struct plim_step step;
    struct plim_error error = { 0 };
    struct plim_step_choice choice;
    (void)state;
    draw_program(&program, &seed);
    struct plim_step_fit fit = record_all(&program, recordings, points, N);
    for (uint32_t i = 0; i < N_TAKES; i++) /* other lines take it */
        recordings[0].step.shapes[0].tracks[0].allocations[i].site ^= 1;
    recordings[6].is_left_out = true;
    assert_int_equal(plim_step_fit(&fit, &step, &error), 0);
    assert_int_equal(step.n_shapes, 2);
    assert_int_equal(step.shapes[0].n_points, 1);
    assert_int_equal(step.shapes[1].n_points, 5);
    assert_int_equal(recordings[6].shape, 1);
    assert_int_equal(step.n_sites, 2);
    assert_int_equal(plim_step_choose(&step, &(struct plim_step_point){ { 16, 512 } }, &choice, &error), 0);
    assert_ptr_equal(choice.shape, &step.shapes[1]);
    assert_int_equal(plim_step_choose(&step, &(struct plim_step_point){ { 1, 64 } }, &choice, &error), 0);
    assert_int_equal(choice.source, PLIM_STEP_RECORDED);
    assert_true(plim_step_choose(&step, &(struct plim_step_point){ { 1, 512 } }, &choice, &error) < 0);
    plim_step_done(&step);
    /* All shapes have a recording at least: what was to be left out is all there is of one. */
    recordings[0].is_left_out = true;
    recordings[1].step.shapes[0].tracks[0].end = PLIM_STEP_END_MEMORY;
    assert_int_equal(plim_step_fit(&fit, &step, &error), 0);
    assert_int_equal(step.n_shapes, 2);
    assert_true(recordings[1].shape == PLIM_STEP_NO_SHAPE);
    plim_step_done(&step);
    for (size_t i = 0; i < N; i++)
        recordings[i].step.shapes[0].tracks[0].end = PLIM_STEP_END_MEMORY;
    assert_int_equal(plim_step_fit(&fit, &step, &error), PLIM_E_NOT_FOUND);
    forget(&fit);
}

/* What a turn has at most, by the recordings: the same, another one in each of them, or known to some of them only. */
static void test_pieces_of_lines(void **state)
{
    static const struct {
        uint64_t first, more, last;
        bool has_loop;
        uint64_t piece;
    } rows[] = { { 64, 0, 64, true, 64 }, { 64, 8, 0, false, 0 }, { 64, 0, 0, true, 0 } };
    static const uint64_t s[3] = { 100, 160, 250 };
    uint64_t seed = 1;
    struct plim_step_point points[N_DESIGN];
    struct program program;
    (void)state;
    design(points, s);
    draw_program(&program, &seed);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_step_recording recordings[N_DESIGN];
        struct plim_step step;
        struct plim_error error = { 0 };
        struct plim_step_fit fit = record_all(&program, recordings, points, N_DESIGN);
        for (size_t k = 0; k < N_DESIGN; k++) {
            recordings[k].step.sites[0].loop = recordings[k].step.sites[0].file;
            recordings[k].step.sites[0].piece =
                k + 1 == N_DESIGN && !rows[i].more ? rows[i].last : rows[i].first + k % 3 * rows[i].more;
        }
        assert_int_equal(plim_step_fit(&fit, &step, &error), 0);
        assert_int_equal(step.sites[0].loop > 0, rows[i].has_loop);
        assert_int_equal(step.sites[0].piece, rows[i].piece);
        plim_step_done(&step);
        forget(&fit);
    }
}

static void test_out_of_memory(void **state)
{
    static const uint64_t s[3] = { 100, 300, 777 };
    uint64_t seed = 7;
    struct program program;
    struct plim_step_point points[N_DESIGN];
    struct plim_step_recording recordings[N_DESIGN];
    (void)state;
    design(points, s);
    draw_program(&program, &seed);
    struct plim_step_fit fit = record_all(&program, recordings, points, N_DESIGN);
    for (long n = 0;; n++) {
        struct plim_step step;
        struct plim_error error = { 0 };
        plim_alloc_fail_after(n);
        const int result = plim_step_fit(&fit, &step, &error);
        plim_alloc_fail_after(-1);
        if (result == 0) {
            assert_true(n > 10);
            plim_step_done(&step);
            break;
        }
        assert_int_equal(result, PLIM_E_NOMEM);
    }
    forget(&fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_by_hand),        cmocka_unit_test(test_too_few_points),
        cmocka_unit_test(test_nearest_above),        cmocka_unit_test(test_nearest_above_is_near),
        cmocka_unit_test(test_forms_at_random),      cmocka_unit_test(test_fit),
        cmocka_unit_test(test_returns_in_any_order), cmocka_unit_test(test_other_orders),
        cmocka_unit_test(test_two_shapes),           cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_pieces_of_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Programs that work in pieces or in turns: recordings of a few turns become one step, which is compared with the
 * program itself at other sizes, event by event. */
#include "base/limits.h"
#include "engine/torch/step.h"
#include "hand_step.h"
#include "step/choose.h"
#include "step/file.h"
#include "step/fit/align.h"
#include "step/fit/fit.h"
#include "step/fit/form_capped.h"
#include "step/size.h"
#include "step/unroll.h"

enum { PIECE = 4096, MOST_RECORDINGS = 8 };

/* What the loop does; turns: B of them, of one size, in the place of pieces. */
enum {
    HOLDS_ONE_ON = 1,
    HAS_TEMPORARY = 2,
    TURNS = 4,
    GROWS = 8,
    KEEPS_ALL = 16,
    IN_BACKWARD = 32,
    HAS_WORK_AREA = 64,
    WIDE = 256,   /* 8 bytes are the least that a row has */
    BATCHES = 128 /* another program: gradients are accumulated */
};

static void take_and_give(struct plim_step_shape *shape, uint64_t bytes, uint32_t site)
{
    const uint32_t size = hand_size(shape, (int64_t)bytes, 0);
    hand_give(shape->tracks, hand_take(shape->tracks, size, site, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD));
}

static uint32_t take(struct plim_step_shape *shape, uint64_t bytes, uint32_t site)
{
    return hand_take(shape->tracks, hand_size(shape, (int64_t)bytes, 0), site, PLIM_PILLAR_ACTIVATIONS,
                     PLIM_PHASE_FORWARD);
}

static void run_loop(struct plim_step_shape *shape, unsigned what, uint64_t b, uint64_t rows, const uint32_t *sites)
{
    const uint64_t n_turns = what & TURNS ? b : (rows + PIECE - 1) / PIECE;
    uint32_t held = UINT32_MAX, kept[64];
    for (uint64_t turn = 0; turn < n_turns; turn++) {
        const uint64_t left = rows - turn * PIECE;
        const uint64_t n = what & GROWS ? 100 * (turn + 1) : what & TURNS ? 512 : left < PIECE ? left : PIECE;
        const uint32_t before = held;
        held = what & HOLDS_ONE_ON ? take(shape, 256 * n, sites[1]) : held;
        if (before != UINT32_MAX)
            hand_give(shape->tracks, before);
        take_and_give(shape, 1 << 20, sites[2]);
        if (what & HAS_TEMPORARY)
            take_and_give(shape, 128 * n, sites[3]);
        if (what & KEEPS_ALL)
            kept[turn] = take(shape, 4 * n, sites[4]);
    }
    for (uint64_t turn = n_turns; what & KEEPS_ALL && turn-- > 0;)
        hand_give(shape->tracks, kept[turn]);
    if (held != UINT32_MAX)
        hand_give(shape->tracks, held);
}

/* Two steps of an optimizer, each of B batches: a gradient is made by the first one, and added to by the others. */
static struct plim_step record_batches(struct plim_step_point point)
{
    struct plim_step step = { .torch_version = "2.15.0" };
    struct plim_step_shape *shape = hand_shape(&step);
    const uint64_t s = point.value[1];
    uint32_t sites[6], words = UINT32_MAX;
    hand_point(shape, 0, 0);
    for (uint32_t i = 0; i < COUNT(sites); i++)
        sites[i] = hand_site(&step, 10 + i);
    struct plim_step_track *track = hand_track(shape);
    for (uint32_t number = 0; number < 2; number++) {
        uint32_t gradient = 0;
        for (uint64_t k = 0; k < point.value[0]; k++) {
            hand_mark(track, number, PLIM_PHASE_FORWARD);
            const uint32_t before = words;
            words = take(shape, 8 * s, sites[0]); /* the last batch goes when there is the next */
            if (before != UINT32_MAX)
                hand_give(track, before);
            const uint32_t layer = take(shape, 4096 * s, sites[1]);
            hand_mark(track, number, PLIM_PHASE_BACKWARD);
            take_and_give(shape, 512 * s, sites[2]);
            if (k == 0)
                gradient = take(shape, 1 << 20, sites[3]);
            else
                take_and_give(shape, 1 << 20, sites[3]);
            hand_give(track, layer);
        }
        hand_mark(track, number, PLIM_PHASE_STEP);
        take_and_give(shape, 1 << 21, sites[4]);
        hand_give(track, gradient);
    }
    hand_mark(track, 2, PLIM_PHASE_MAX_);
    return step;
}

/* As TRL's loss: a mask, a buffer of one piece, a loop, something that is kept of all rows; twice, in two phases. */
static struct plim_step record(unsigned what, struct plim_step_point point)
{
    if (what & BATCHES)
        return record_batches(point);
    struct plim_step step = { .torch_version = "2.15.0" };
    struct plim_step_shape *shape = hand_shape(&step);
    const uint64_t b = point.value[0], rows = b * (point.value[1] - 1);
    uint32_t sites[8];
    hand_point(shape, 0, 0);
    for (uint32_t i = 0; i < COUNT(sites); i++)
        sites[i] = hand_site(&step, 10 + i);
    struct plim_step_track *track = hand_track(shape);
    hand_mark(track, 0, PLIM_PHASE_FORWARD);
    const uint32_t mask = take(shape, (what & WIDE ? 8 : 1) * rows, sites[0]);
    const uint32_t buffer = take(shape, 2048 * (rows < PIECE ? rows : PIECE), sites[5]);
    run_loop(shape, what, b, rows, sites);
    const uint32_t scores = take(shape, (what & WIDE ? 8 : 4) * rows, sites[6]);
    hand_give(track, buffer);
    hand_mark(track, 0, PLIM_PHASE_BACKWARD);
    if (what & HAS_WORK_AREA && rows > 3072)
        take_and_give(shape, 1 << 18, sites[7]);
    if (what & IN_BACKWARD)
        run_loop(shape, what, b, rows, sites + 1);
    hand_give(track, scores);
    hand_give(track, mask);
    hand_mark(track, 1, PLIM_PHASE_MAX_);
    return step;
}

static struct plim_step_fit record_all(unsigned what, const struct plim_step_point *points, size_t n,
                                       struct plim_step_recording *recordings)
{
    for (size_t i = 0; i < n; i++)
        recordings[i] = (struct plim_step_recording){ .step = record(what, points[i]), .point = points[i] };
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

static struct plim_step fit_all(unsigned what, const struct plim_step_point *points, size_t n)
{
    struct plim_step_recording recordings[MOST_RECORDINGS];
    struct plim_step_fit fit = record_all(what, points, n, recordings);
    struct plim_step step;
    struct plim_error error = { 0 };
    if (plim_step_fit(&fit, &step, &error) < 0)
        fail_msg("%s", error.what);
    forget(&fit);
    return step;
}

/* An event that takes 0 bytes takes nothing, and what gives that back neither. */
static size_t next_event(const struct plim_step_shape *shape, size_t at, const struct plim_step_point *point)
{
    const struct plim_step_track *track = shape->tracks;
    while (at < track->n_events && !plim_step_size_bytes(shape, track->allocations[track->events[at].id].size, point))
        at++;
    return at;
}

/* The step at a point is what the program does there. */
static void is_as_run(const struct plim_step *step, unsigned what, uint64_t b, uint64_t s)
{
    const struct plim_step_point point = { { b, s } };
    struct plim_step truth = record(what, point);
    struct plim_step_choice choice;
    struct plim_step_shape *own = NULL;
    struct plim_error error = { 0 };
    size_t at = 0;
    plim_step_sort_returns(&truth);
    if (plim_step_choose(step, &point, &choice, &error) < 0 || plim_step_unroll(choice.shape, &point, &own, &error) < 0)
        fail_msg("B=%u S=%u: %s", (unsigned)b, (unsigned)s, error.what);
    const struct plim_step_shape *shape = plim_step_unrolled(choice.shape, own), *expected = truth.shapes;
    uint32_t same[4096];
    for (size_t i = 0; i < expected->tracks->n_events; i++, at++) {
        at = next_event(shape, at, &point);
        assert_true(at < shape->tracks->n_events);
        const struct plim_step_event *x = &shape->tracks->events[at], *y = &expected->tracks->events[i];
        assert_int_equal(x->kind, y->kind);
        if (y->kind == PLIM_STEP_TAKE)
            same[y->id] = x->id;
        if (same[y->id] != x->id)
            fail_msg("B=%u S=%u: event %zu is of %u, expected %u", (unsigned)b, (unsigned)s, i, x->id, same[y->id]);
        assert_int_equal(plim_step_size_bytes(shape, shape->tracks->allocations[x->id].size, &point),
                         plim_step_size_bytes(expected, expected->tracks->allocations[y->id].size, &point));
    }
    assert_int_equal(next_event(shape, at, &point), shape->tracks->n_events);
    assert_int_equal(shape->tracks->n_marks, expected->tracks->n_marks);
    for (size_t i = 0; i < expected->tracks->n_marks; i++) {
        const struct plim_step_mark *x = &shape->tracks->marks[i], *y = &expected->tracks->marks[i];
        assert_true(x->phase == y->phase && x->step == y->step);
        if (what & HAS_WORK_AREA) /* it may stand before the mark, where nothing else happens */
            continue;
        const size_t next = next_event(shape, x->event, &point);
        const uint32_t id = next < shape->tracks->n_events ? shape->tracks->events[next].id : 0;
        assert_int_equal(id, y->event < expected->tracks->n_events ? same[expected->tracks->events[y->event].id] : 0);
    }
    plim_step_unrolled_free(own);
    plim_step_done(&truth);
}

static const struct plim_step_point one_to_four[] = { { { 4, 193 } }, { { 8, 193 } }, { { 32, 193 } }, { { 64, 193 } },
                                                      { { 4, 257 } }, { { 8, 321 } }, { { 64, 321 } } };

static void test_pieces(void **state)
{
    static const unsigned kinds[] = { HOLDS_ONE_ON,
                                      HAS_TEMPORARY,
                                      HOLDS_ONE_ON | HAS_TEMPORARY,
                                      HOLDS_ONE_ON | IN_BACKWARD,
                                      HOLDS_ONE_ON | HAS_TEMPORARY | IN_BACKWARD,
                                      HOLDS_ONE_ON | IN_BACKWARD | HAS_WORK_AREA };
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct plim_step step = fit_all(kinds[i], one_to_four, COUNT(one_to_four));
        assert_int_equal(step.n_shapes, 1);
        assert_int_equal(step.shapes->tracks->n_loops, kinds[i] & IN_BACKWARD ? 2 : 1);
        is_as_run(&step, kinds[i], 4, 300);
        is_as_run(&step, kinds[i], 2, 150);
        is_as_run(&step, kinds[i], 40, 257);
        is_as_run(&step, kinds[i], 64, 65);    /* one piece to the row */
        is_as_run(&step, kinds[i], 64, 129);   /* two */
        is_as_run(&step, kinds[i], 200, 1025); /* fifty */
        plim_step_done(&step);
    }
}

/* Without a recording of a single piece, what is as large as a piece is known to be that only. */
static void test_several_pieces(void **state)
{
    static const struct plim_step_point points[] = {
        { { 24, 193 } }, { { 32, 193 } }, { { 64, 193 } }, { { 24, 257 } }, { { 32, 257 } }
    };
    struct plim_step step = fit_all(HOLDS_ONE_ON, points, COUNT(points));
    struct plim_step_choice choice;
    struct plim_error error = { 0 };
    (void)state;
    assert_int_equal(step.n_shapes, 1);
    is_as_run(&step, HOLDS_ONE_ON, 22, 193);
    is_as_run(&step, HOLDS_ONE_ON, 500, 300);
    assert_int_equal(plim_step_choose(&step, &(struct plim_step_point){ { 16, 193 } }, &choice, &error),
                     PLIM_E_UNSUPPORTED);
    assert_non_null(strstr(error.what, "all recordings have several"));
    plim_step_done(&step);
}

/* As the hook finds it in the source of the program. */
static struct plim_step fit_with_source(unsigned what, const struct plim_step_point *points, size_t n)
{
    struct plim_step step = fit_all(what, points, n);
    for (size_t i = 0; i < step.n_sites; i++)
        if (step.sites[i].line == 11) {
            step.sites[i].loop = step.sites[i].file;
            step.sites[i].piece = PIECE;
        }
    return step;
}

/* What a refusal says to record is enough, whatever the length of a row and the bytes of a token. */
static void test_hint(void **state)
{
    static const uint64_t lengths[] = { 2, 3, 17, 101, 193, 257, 1000, 1371 };
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(lengths); i++) {
        const unsigned what = HOLDS_ONE_ON | (i % 2 ? WIDE : 0);
        const uint64_t s = lengths[i / 2];
        struct plim_step_point points[] = { { { 1, s } }, { { 2, s } }, { { 1, s + 1 } }, { { 0, s } }, { { 0, s } } };
        const struct plim_step_point far = { { 20000, s } };
        struct plim_step step = fit_with_source(what, points, 3);
        struct plim_step_choice choice;
        struct plim_error error = { 0 };
        assert_int_equal(plim_step_choose(&step, &far, &choice, &error), PLIM_E_UNSUPPORTED);
        const char *hint = strstr(error.hint, "so that it turns twice and three times: --vary B=...,");
        assert_non_null(hint);
        hint = strstr(hint, "...,");
        char *end;
        points[3].value[0] = strtoull(hint + 4, &end, 10);
        points[4].value[0] = strtoull(end + 1, NULL, 10);
        plim_step_done(&step);
        step = fit_with_source(what, points, COUNT(points));
        if (plim_step_choose(&step, &far, &choice, &error) < 0)
            fail_msg("S=%u: %s; %s", (unsigned)s, error.what, error.hint);
        plim_step_done(&step);
    }
}

/* As many turns as a variable says. */
static void test_turns(void **state)
{
    static const struct plim_step_point points[] = {
        { { 2, 64 } }, { { 3, 64 } }, { { 6, 64 } }, { { 2, 96 } }, { { 3, 128 } }
    };
    (void)state;
    struct plim_step step = fit_all(TURNS | HOLDS_ONE_ON, points, COUNT(points));
    assert_int_equal(step.n_shapes, 1);
    assert_int_equal(step.shapes->tracks->n_loops, 1);
    for (uint64_t b = 1; b < 40; b += 6)
        is_as_run(&step, TURNS | HOLDS_ONE_ON, b, 100);
    plim_step_done(&step);
    step = fit_all(TURNS, points, COUNT(points)); /* each leaves memory as it was */
    assert_int_equal(step.n_shapes, 1);
    assert_int_equal(step.shapes->tracks->n_loops, 0);
    is_as_run(&step, TURNS, 1, 100);
    plim_step_done(&step);
}

/* Batches for one step of an optimizer are turns with phases of their own. */
static void test_batches(void **state)
{
    static const struct plim_step_point
        points[] = { { { 2, 64 } }, { { 3, 64 } }, { { 5, 64 } }, { { 2, 96 } }, { { 3, 128 } } },
        with_one[] = { { { 1, 64 } }, { { 2, 64 } }, { { 4, 64 } }, { { 1, 96 } }, { { 2, 128 } } };
    (void)state;
    for (int is_from_one = 0; is_from_one < 2; is_from_one++) {
        struct plim_step step = fit_all(BATCHES, is_from_one ? with_one : points, COUNT(points)), read;
        assert_int_equal(step.n_shapes, 1);
        assert_int_equal(step.shapes->tracks->n_loops, 2);
        assert_int_equal(step.shapes->tracks->loops->n_marks, 2);
        for (uint64_t b = 1; b < 20; b += 3)
            is_as_run(&step, BATCHES, b, 100);
        struct plim_error error = { 0 };
        unsigned char *bytes;
        size_t n;
        if (plim_step_encode(&step, &bytes, &n, &error) < 0)
            fail_msg("%s", error.what);
        struct plim_cursor cursor = plim_cursor(bytes, n);
        assert_int_equal(plim_step_read_bytes(&cursor, &read, &error), 0);
        is_as_run(&read, BATCHES, 7, 80);
        read.shapes->tracks->loops->first_mark += 2;
        plim_free(bytes);
        assert_int_equal(plim_step_encode(&read, &bytes, &n, &error), PLIM_E_INTERNAL);
        plim_step_done(&read);
        plim_step_done(&step);
    }
}

/* Turns that grow, or of which each leaves something, are what they were: other orders. */
static void test_no_turns(void **state)
{
    static const unsigned kinds[] = { TURNS | GROWS | HOLDS_ONE_ON, TURNS | KEEPS_ALL };
    static const struct plim_step_point points[] = { { { 4, 64 } }, { { 8, 64 } }, { { 16, 64 } } };
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct plim_step step = fit_all(kinds[i], points, COUNT(points));
        for (size_t k = 0; k < step.n_shapes; k++)
            assert_int_equal(step.shapes[k].tracks->n_loops, 0);
        for (size_t k = 0; k < COUNT(points); k++)
            is_as_run(&step, kinds[i], points[k].value[0], points[k].value[1]);
        plim_step_done(&step);
    }
}

static void test_capped(void **state)
{
    static const struct plim_step_point points[] = { { { 2 } }, { { 3 } }, { { 5 } }, { { 9 } }, { { 12 } } };
    struct plim_step_form form;
    struct plim_error error = { 0 };
    bool is_capped;
    (void)state;
    assert_int_equal(
        plim_step_form_capped(points, (uint64_t[]){ 1024, 1536, 2560, 4096, 4096 }, 5, 1, &form, &is_capped, &error),
        0);
    assert_true(is_capped);
    assert_int_equal(plim_step_form_bytes(&form, &(struct plim_step_point){ { 7 } }), 3584);
    assert_int_equal(plim_step_form_bytes(&form, &(struct plim_step_point){ { 100 } }), 4096);
    static const uint64_t others[][5] = {
        { 1024, 1536, 2560, 4608, 6144 }, /* no end */
        { 1024, 1536, 2560, 4000, 4096 }, /* one recording has it */
        { 1024, 1536, 2560, 5000, 5000 }, /* above the formula */
        { 1024, 1300, 3000, 4096, 4096 }, /* no formula */
        { 4096, 4096, 4096, 4096, 4096 },
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(plim_step_form_capped(points, others[i], 5, 1, &form, &is_capped, &error), 0);
        assert_false(is_capped);
    }
}

/* --- files --- */

static void test_file(void **state)
{
    struct plim_step step = fit_all(HOLDS_ONE_ON | HAS_TEMPORARY, one_to_four, COUNT(one_to_four)), read;
    struct plim_error error = { 0 };
    unsigned char *bytes, *again;
    size_t n, n_again;
    (void)state;
    assert_int_equal(plim_step_encode(&step, &bytes, &n, &error), 0);
    struct plim_cursor cursor = plim_cursor(bytes, n);
    if (plim_step_read_bytes(&cursor, &read, &error) < 0)
        fail_msg("%s", error.what);
    is_as_run(&read, HOLDS_ONE_ON | HAS_TEMPORARY, 100, 100);
    assert_int_equal(plim_step_encode(&read, &again, &n_again, &error), 0);
    assert_int_equal(n_again, n);
    assert_memory_equal(again, bytes, n);
    for (size_t cut = 0; cut < n; cut++) {
        struct plim_step part;
        cursor = plim_cursor(bytes, cut);
        assert_int_equal(plim_step_read_bytes(&cursor, &part, &error), PLIM_E_TRUNCATED);
    }
    plim_free(again);
    plim_free(bytes);
    error = (struct plim_error){ 0 };
    struct plim_step_track *track = read.shapes->tracks;
    const uint32_t event = track->marks[1].event;
    track->marks[1].event = track->loops->first_event + 1;
    assert_int_equal(plim_step_encode(&read, &bytes, &n, &error), PLIM_E_INTERNAL);
    assert_non_null(strstr(error.what, "a mark is within a loop, or"));
    error = (struct plim_error){ 0 };
    track->marks[1].event = event;
    track->loops->turns = track->allocations[0].size;
    assert_int_equal(plim_step_encode(&read, &bytes, &n, &error), PLIM_E_INTERNAL);
    assert_non_null(strstr(error.what, "the turns of a loop are pieces of a size"));
    plim_step_done(&read);
    plim_step_done(&step);
}

/* Numbers of turns that nobody can have, and loops that are none. */
static void test_hostile(void **state)
{
    struct plim_step step = fit_all(HOLDS_ONE_ON, one_to_four, COUNT(one_to_four));
    struct plim_step_shape *own = NULL, *shape = step.shapes;
    struct plim_error error = { 0 };
    (void)state;
    assert_int_equal(plim_step_unroll(shape, &(struct plim_step_point){ { UINT64_MAX, 2 } }, &own, &error),
                     PLIM_E_TOO_BIG);
    assert_int_equal(
        plim_step_unroll(shape, &(struct plim_step_point){ { PIECE * UINT64_C(300000), 2 } }, &own, &error),
        PLIM_E_TOO_BIG);
    assert_int_equal(plim_step_unroll(shape, &(struct plim_step_point){ { PIECE * UINT64_C(30000), 2 } }, &own, &error),
                     0);
    assert_true(own->tracks->n_events > 100000);
    plim_step_unrolled_free(own);
    shape->tracks->loops->n_events--; /* what a turn gives on is given back by none */
    for (uint64_t b = 16; b <= 96; b += 40) {
        const int result = plim_step_unroll(shape, &(struct plim_step_point){ { b, 193 } }, &own, &error);
        assert_true(result == 0 || result == PLIM_E_CORRUPT);
        if (result == 0)
            plim_step_unrolled_free(own);
    }
    plim_step_done(&step);
}

static void test_out_of_memory(void **state)
{
    struct plim_step_recording recordings[MOST_RECORDINGS];
    struct plim_step_fit fit = record_all(HOLDS_ONE_ON | HAS_TEMPORARY, one_to_four, COUNT(one_to_four), recordings);
    (void)state;
    for (long n = 0;; n++) {
        struct plim_step step;
        struct plim_step_shape *own = NULL;
        struct plim_error error = { 0 };
        bool is_fitted = false;
        plim_alloc_fail_after(n);
        int result = plim_step_fit(&fit, &step, &error);
        is_fitted = result == 0;
        if (is_fitted)
            result = plim_step_unroll(step.shapes, &(struct plim_step_point){ { 70, 200 } }, &own, &error);
        plim_alloc_fail_after(-1);
        const bool is_folded = is_fitted && step.n_shapes == 1;
        if (is_fitted)
            plim_step_done(&step);
        plim_step_unrolled_free(own);
        if (result == 0) {
            assert_true(n > 100 && is_folded);
            break;
        }
        assert_int_equal(result, PLIM_E_NOMEM);
    }
    forget(&fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),        cmocka_unit_test(test_several_pieces), cmocka_unit_test(test_hint),
        cmocka_unit_test(test_turns),         cmocka_unit_test(test_batches),        cmocka_unit_test(test_no_turns),
        cmocka_unit_test(test_capped),        cmocka_unit_test(test_file),           cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

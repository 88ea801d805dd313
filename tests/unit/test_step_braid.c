/* SPDX-License-Identifier: MIT */
/* Recordings whose orders differ a little: common subsequences, one order of several, work areas that come and go. */
#include "step/fit/braid.h"

#include "engine/torch/tape.h"
#include "hand_step.h"
#include "step/file.h"
#include "step/fit/differ.h"
#include "step/fit/fit.h"
#include "step/fit/work_area.h"
#include "step/size.h"

/* --- common subsequences --- */

static size_t longest(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    size_t table[41][41] = { { 0 } };
    for (size_t i = 1; i <= n_a; i++)
        for (size_t k = 1; k <= n_b; k++)
            table[i][k] = a[i - 1] == b[k - 1]                ? table[i - 1][k - 1] + 1
                          : table[i - 1][k] > table[i][k - 1] ? table[i - 1][k]
                                                              : table[i][k - 1];
    return table[n_a][n_b];
}

static void test_differ(void **state)
{
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 3000; round++) {
        uint64_t a[40], b[40];
        size_t partner[40];
        const size_t n_a = random_below(&seed, 41), n_b = random_below(&seed, 41);
        const uint64_t letters = 1 + random_below(&seed, 6);
        for (size_t i = 0; i < 40; i++) {
            a[i] = random_below(&seed, letters);
            b[i] = random_below(&seed, letters);
        }
        bool is_out_of_memory;
        const size_t n_common = longest(a, n_a, b, n_b), n_differences = n_a + n_b - 2 * n_common;
        assert_true(plim_step_differ(a, n_a, b, n_b, n_differences, partner, &is_out_of_memory));
        size_t n = 0, next = 0;
        for (size_t i = 0; i < n_a; i++)
            if (partner[i] != SIZE_MAX) {
                assert_true(partner[i] >= next && partner[i] < n_b && a[i] == b[partner[i]]);
                next = partner[i] + 1;
                n++;
            }
        assert_int_equal(n, n_common);
        if (n_differences > 0)
            assert_false(plim_step_differ(a, n_a, b, n_b, n_differences - 1, partner, &is_out_of_memory));
        assert_false(is_out_of_memory);
    }
}

/* --- a program with reductions --- */

enum { N_LAYERS = 60, PLACE = 7, N_OUTPUTS = 4000, N_BLOCKS = 32, N_CARD_THREADS = 148 * 2048 };

/* Reduce.cuh for sums over rows of 4 byte numbers, four outputs to a thread: blocks of 32 x 4 threads. */
static uint64_t scratch_of(uint64_t rows)
{
    const uint64_t values = (rows + 3) / 4, grid = N_CARD_THREADS / 128;
    if (values < 256)
        return 0;
    const uint64_t most = (grid + N_BLOCKS - 1) / N_BLOCKS, wanted = (values + 15) / 16, least = (values + 255) / 256;
    const uint64_t parts = wanted < most ? wanted : least > most ? least : most;
    return parts * 4 * N_OUTPUTS * 128;
}

struct wish {
    uint64_t b, s;
    bool has_copy;  /* a batch of one needs no copy, which lives as long as the layers */
    bool has_other; /* and takes what others do not */
};

/* Weights; then layers that take an activation each and give it back at the end, with a sum in each. */
static struct plim_step record(const struct wish *wish)
{
    struct plim_step step = { .torch_version = "2.15.0" };
    struct plim_step_shape *shape = hand_shape(&step);
    uint32_t held[N_LAYERS], copy = 0, sites[4];
    hand_point(shape, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
        sites[i] = hand_site(&step, 10 + i);
    const uint64_t rows = wish->b * wish->s, scratch_bytes = scratch_of(rows);
    const uint32_t hidden = hand_size(shape, (int64_t)(rows * 8192), 0), one = hand_size(shape, 1024, 0);
    const uint32_t scratch = hand_size(shape, (int64_t)scratch_bytes, 0), few = hand_size(shape, 4 * N_BLOCKS, 0);
    struct plim_step_track *track = hand_track(shape);
    track->end = PLIM_STEP_END_EXIT;
    hand_mark(track, 0, PLIM_PHASE_FORWARD);
    const bool has_copy = wish->has_copy && wish->b > 1, has_other = wish->has_other && wish->b == 1;
    for (int i = 0; i < N_LAYERS; i++) {
        held[i] = hand_take(track, hidden, sites[0], PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
        if (i == PLACE && has_copy)
            copy = hand_take(track, hidden, sites[3], PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
        if (i == PLACE && has_other)
            copy = hand_take(track, one, sites[2], PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    }
    hand_mark(track, 0, PLIM_PHASE_BACKWARD);
    for (int i = N_LAYERS - 1; i >= 0; i--) {
        const uint32_t sum = hand_take(track, one, sites[1], PLIM_PILLAR_GRADIENTS, PLIM_PHASE_BACKWARD);
        if (scratch_bytes) {
            const uint32_t area = hand_take(track, scratch, sites[1], PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_BACKWARD);
            hand_give(track, hand_take(track, few, sites[1], PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_BACKWARD));
            hand_give(track, area);
        }
        hand_give(track, held[i]);
        if (i == PLACE && (has_copy || has_other))
            hand_give(track, copy);
        if (i % 2)
            hand_give(track, sum);
    }
    return step;
}

static struct plim_torch_result replay(const struct plim_step *step, const struct plim_step_point *point)
{
    struct plim_error error = { 0 };
    struct plim_torch_tape tape;
    struct plim_torch_conditions conditions = { .capacity_bytes = UINT64_MAX };
    struct plim_torch_result result;
    plim_torch_settings_init(&conditions.settings);
    const struct plim_step_shape *shape = &step->shapes[0];
    assert_int_equal(plim_torch_tape_make(step, shape, &shape->tracks[0], point, &tape, &error), 0);
    assert_int_equal(plim_torch_tape_replay(&tape, &conditions, &result, &error), 0);
    plim_torch_tape_done(&tape);
    return result;
}

static int fit_at(const struct wish *wishes, size_t n, struct plim_step *ret_step, struct plim_error *reterr)
{
    struct plim_step_recording recordings[12] = { { .is_left_out = false } };
    for (size_t i = 0; i < n; i++) {
        recordings[i].step = record(&wishes[i]);
        recordings[i].point = (struct plim_step_point){ { wishes[i].b, wishes[i].s } };
    }
    struct plim_step_fit fit = { .recordings = recordings,
                                 .n_recordings = n,
                                 .variables = { { "B" }, { "S" } },
                                 .n_variables = 2,
                                 .command = "",
                                 .n_threads = N_CARD_THREADS };
    const int result = plim_step_fit(&fit, ret_step, reterr);
    for (size_t i = 0; i < n; i++)
        plim_step_done(&recordings[i].step);
    return result;
}

static void expect_peaks(const struct plim_step *step, const struct wish *wish)
{
    struct plim_step own = record(wish);
    const struct plim_step_point point = { { wish->b, wish->s } };
    const struct plim_torch_result expected = replay(&own, &own.shapes[0].points[0]), found = replay(step, &point);
    if (expected.allocated_peak_bytes != found.allocated_peak_bytes ||
        expected.reserved_peak_bytes != found.reserved_peak_bytes)
        fail_msg("B=%llu S=%llu: %llu, %llu instead of %llu, %llu", (unsigned long long)wish->b,
                 (unsigned long long)wish->s, (unsigned long long)found.allocated_peak_bytes,
                 (unsigned long long)found.reserved_peak_bytes, (unsigned long long)expected.allocated_peak_bytes,
                 (unsigned long long)expected.reserved_peak_bytes);
    plim_step_done(&own);
}

/* On both sides of the size from which sums take a work area: one shape, and what it says of others is right. */
static void test_reductions(void **state)
{
    static const struct wish wishes[] = { { .b = 3, .s = 192 }, { .b = 5, .s = 192 }, { .b = 3, .s = 320 },
                                          { .b = 3, .s = 448 }, { .b = 5, .s = 320 }, { .b = 5, .s = 448 } };
    static const struct wish others[] = { { .b = 3, .s = 256 }, { .b = 4, .s = 255 },  { .b = 4, .s = 256 },
                                          { .b = 5, .s = 352 }, { .b = 20, .s = 448 }, { .b = 3, .s = 1792 },
                                          { .b = 2, .s = 100 }, { .b = 7, .s = 333 } };
    struct plim_step step;
    struct plim_error error = { 0 };
    (void)state;
    assert_int_equal(fit_at(wishes, COUNT(wishes), &step, &error), 0);
    assert_int_equal(step.n_shapes, 1);
    for (size_t i = 0; i < COUNT(wishes); i++)
        expect_peaks(&step, &wishes[i]);
    for (size_t i = 0; i < COUNT(others); i++)
        expect_peaks(&step, &others[i]);
    unsigned char *bytes = NULL;
    size_t n_bytes = 0;
    if (plim_step_encode(&step, &bytes, &n_bytes, &error) < 0)
        fail_msg("%s", error.what);
    plim_free(bytes);
    plim_step_done(&step);
}

/* A batch of one does not need a copy that lives as long as the layers: it is a program of its own. */
static void test_batch_of_one(void **state)
{
    struct wish wishes[] = { { .b = 1, .s = 64 },  { .b = 2, .s = 64 },  { .b = 3, .s = 64 },
                             { .b = 1, .s = 128 }, { .b = 2, .s = 192 }, { .b = 3, .s = 128 } };
    struct plim_step step;
    struct plim_error error = { 0 };
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < COUNT(wishes); i++) {
            wishes[i].has_copy = turn > 0;
            wishes[i].has_other = turn > 1;
        }
        assert_int_equal(fit_at(wishes, COUNT(wishes), &step, &error), 0);
        assert_int_equal(step.n_shapes, turn > 0 ? 2 : 1);
        plim_step_done(&step);
    }
}

/* --- work areas --- */

static void test_work_areas(void **state)
{
    static const struct plim_step_point points[] = { { { 2 } }, { { 4 } }, { { 6 } }, { { 8 } }, { { 20 } } };
    static const struct {
        const char *name;
        uint64_t bytes[COUNT(points)];
        uint64_t at, expect;
    } rows[] = {
        { "a copy from two on", { 0, 4096, 6144, 8192, 20480 }, 10, 10240 },
        { "... and not below", { 0, 4096, 6144, 8192, 20480 }, 2, 0 },
        { "one size from 8 on", { 0, 0, 0, 700, 700 }, 100, 700 },
        { "... and not below", { 0, 0, 0, 700, 700 }, 7, 0 },
        { "made once: with the program", { 0, 0, 0, 0, 20 << 20 }, 40, 40 << 20 },
        { "... and not where it was not made", { 0, 0, 0, 0, 20 << 20 }, 8, 0 },
        { "stairs of three", { 0, 0, 2 << 20, 3 << 20, 7 << 20 }, 30, 10 << 20 },
        { "stairs with an end", { 0, 1 << 20, 2 << 20, 2 << 20, 2 << 20 }, 100, 2 << 20 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_step_work_area area = { .points = points,
                                                  .bytes = rows[i].bytes,
                                                  .n_points = COUNT(points),
                                                  .n_variables = 1,
                                                  .usual = {
                                                      .n_terms = 1, .denominator = 1, .term = { { 1, { 1 } } } } };
        struct plim_step_form form;
        struct plim_error error = { 0 };
        assert_int_equal(plim_step_work_area_find(&area, &form, &error), 0);
        assert_false(form.is_exact);
        for (size_t k = 0; k < COUNT(points); k++)
            if (plim_step_form_bytes(&form, &points[k]) != rows[i].bytes[k])
                fail_msg("%s: recorded %zu: %llu", rows[i].name, k,
                         (unsigned long long)plim_step_form_bytes(&form, &points[k]));
        const uint64_t found = plim_step_form_bytes(&form, &(struct plim_step_point){ { rows[i].at } });
        if (found != rows[i].expect)
            fail_msg("%s: %llu instead of %llu", rows[i].name, (unsigned long long)found,
                     (unsigned long long)rows[i].expect);
    }
}

/* Of a ViT on a card of 28 multiprocessors: 41, 43 and 82 pictures of 101 parts; with 82 the card is full. */
static void test_reduction_at_all_points(void **state)
{
    enum { PART_BYTES = 786432, MOST_PARTS = 28 };
    const struct plim_step_point points[] = { { { 41 } }, { { 43 } }, { { 82 } } }, beyond = { { 1030 } };
    const uint64_t semaphores[] = { 12, 12, 12 };
    uint64_t bytes[] = { 16 * PART_BYTES, 17 * PART_BYTES, MOST_PARTS * PART_BYTES };
    const struct plim_step_work_area area = {
        .points = points,
        .bytes = bytes,
        .semaphore_bytes = semaphores,
        .n_points = 3,
        .n_variables = 1,
        .usual = { .n_terms = 1, .denominator = 1, .term = { { .coefficient = 1024, .power = { 1 } } } },
        .n_threads = MOST_PARTS * 1536,
    };
    struct plim_step_form form;
    (void)state;
    assert_true(plim_step_work_area_find_reduction(&area, &form));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(plim_step_form_bytes(&form, &points[i]), bytes[i]);
    assert_int_equal(plim_step_form_bytes(&form, &beyond), MOST_PARTS * PART_BYTES);
    bytes[1] -= 512; /* what it does not meet to the byte is none */
    assert_false(plim_step_work_area_find_reduction(&area, &form));
}

static void test_out_of_memory(void **state)
{
    static const struct wish wishes[] = {
        { .b = 3, .s = 192 }, { .b = 5, .s = 192 }, { .b = 3, .s = 448 }, { .b = 5, .s = 448 }
    };
    struct plim_step_recording recordings[COUNT(wishes)] = { { .is_left_out = false } };
    (void)state;
    for (size_t i = 0; i < COUNT(wishes); i++) {
        recordings[i].step = record(&wishes[i]);
        recordings[i].point = (struct plim_step_point){ { wishes[i].b, wishes[i].s } };
    }
    struct plim_step_fit fit = { .recordings = recordings, .n_recordings = COUNT(wishes), .n_variables = 2 };
    for (long n = 0;; n++) {
        struct plim_step step;
        struct plim_error error = { 0 };
        plim_alloc_fail_after(n);
        const int result = plim_step_fit(&fit, &step, &error);
        plim_alloc_fail_after(-1);
        if (result == 0) {
            assert_true(n > 30);
            plim_step_done(&step);
            break;
        }
        assert_int_equal(result, PLIM_E_NOMEM);
    }
    for (size_t i = 0; i < COUNT(wishes); i++)
        plim_step_done(&recordings[i].step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differ),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_batch_of_one),
        cmocka_unit_test(test_work_areas),
        cmocka_unit_test(test_reduction_at_all_points),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

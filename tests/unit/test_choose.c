/* SPDX-License-Identifier: MIT */
/* The shape of a step at a point. */
#include "step/choose.h"

#include "hand_step.h"

/* Points of each shape, closed by one of zeros. */
static void make(struct plim_step *step, uint32_t n_variables, const uint64_t (*points)[2], size_t n)
{
    struct plim_step_shape *shape = NULL;
    *step = (struct plim_step){ .n_variables = n_variables, .variables = { { "B" }, { "S" } } };
    for (size_t i = 0; i < n; i++) {
        if (!points[i][0]) {
            shape = NULL;
            continue;
        }
        if (!shape)
            shape = hand_shape(step);
        hand_point(shape, points[i][0], points[i][1]);
    }
}

static void holds(const struct plim_step *step, uint64_t b, uint64_t s, size_t shape, enum plim_step_source source)
{
    struct plim_error error = { 0 };
    struct plim_step_choice choice;
    if (plim_step_choose(step, &(struct plim_step_point){ { b, s } }, &choice, &error) < 0)
        fail_msg("B=%u S=%u: %s", (unsigned)b, (unsigned)s, error.what);
    assert_int_equal(choice.shape - step->shapes, shape);
    assert_int_equal(choice.source, source);
    assert_true((choice.point == SIZE_MAX) == (source != PLIM_STEP_RECORDED));
}

static void is_refused(const struct plim_step *step, uint64_t b, uint64_t s, const char *what)
{
    struct plim_error error = { 0 };
    struct plim_step_choice choice;
    assert_int_equal(plim_step_choose(step, &(struct plim_step_point){ { b, s } }, &choice, &error),
                     PLIM_E_UNSUPPORTED);
    if (!strstr(error.what, what))
        fail_msg("%s: expected %s", error.what, what);
    assert_true(*error.hint);
}

static void test_one_recording(void **state)
{
    struct plim_step step;
    (void)state;
    make(&step, 2, (const uint64_t[][2]){ { 4, 512 } }, 1);
    holds(&step, 4, 512, 0, PLIM_STEP_RECORDED);
    is_refused(&step, 8, 512, "recorded at B=4 only");
    is_refused(&step, 4, 1024, "recorded at S=512 only");
    plim_step_done(&step);
}

static void test_one_shape(void **state)
{
    struct plim_step step;
    (void)state;
    make(&step, 2, (const uint64_t[][2]){ { 2, 512 }, { 4, 512 }, { 2, 1024 } }, 3);
    holds(&step, 2, 1024, 0, PLIM_STEP_RECORDED);
    holds(&step, 3, 600, 0, PLIM_STEP_BETWEEN);
    holds(&step, 4, 1024, 0, PLIM_STEP_BETWEEN);
    holds(&step, 16, 1024, 0, PLIM_STEP_BEYOND);
    holds(&step, 1, 512, 0, PLIM_STEP_BEYOND);
    plim_step_done(&step);
}

static void test_shapes(void **state)
{
    struct plim_step step;
    static const uint64_t points[][2] = { { 2, 512 }, { 3, 512 }, { 2, 1024 }, { 0, 0 }, { 5, 512 }, { 8, 512 } };
    (void)state;
    make(&step, 2, points, COUNT(points));
    holds(&step, 5, 512, 1, PLIM_STEP_RECORDED);
    holds(&step, 6, 512, 1, PLIM_STEP_BETWEEN);
    holds(&step, 3, 1024, 0, PLIM_STEP_BETWEEN);
    holds(&step, 16, 512, 1, PLIM_STEP_BEYOND);
    holds(&step, 1, 512, 0, PLIM_STEP_BEYOND);
    holds(&step, 2, 4096, 0, PLIM_STEP_BEYOND);
    is_refused(&step, 4, 512, "another shape from B=5: record it again");
    is_refused(&step, 4, 1024, "another shape from B=5");
    is_refused(&step, 8, 1024, "record it again");
    is_refused(&step, 8, 300, "the shape there was recorded at S=512 only, other values have other shapes");
    plim_step_done(&step);
}

/* Recordings of one shape on both sides of another. */
static void test_mixed(void **state)
{
    struct plim_step step;
    (void)state;
    make(&step, 1, (const uint64_t[][2]){ { 2, 0 }, { 8, 0 }, { 0, 0 }, { 5, 0 } }, 4);
    holds(&step, 5, 0, 1, PLIM_STEP_RECORDED);
    is_refused(&step, 6, 0, "record it again");
    plim_step_done(&step);
}

/* The order changes at the far corner of the design. */
static void test_corner(void **state)
{
    struct plim_step step;
    static const uint64_t points[][2] = { { 2, 256 },  { 4, 256 }, { 8, 256 }, { 2, 512 },
                                          { 2, 1024 }, { 4, 512 }, { 0, 0 },   { 8, 1024 } };
    (void)state;
    make(&step, 2, points, COUNT(points));
    holds(&step, 4, 300, 0, PLIM_STEP_BETWEEN);
    holds(&step, 3, 256, 0, PLIM_STEP_BETWEEN);
    holds(&step, 16, 256, 0, PLIM_STEP_BEYOND);
    holds(&step, 2, 4096, 0, PLIM_STEP_BEYOND);
    is_refused(&step, 4, 1024, "another shape from B=8: record it again");
    is_refused(&step, 8, 600, "another shape from S=1024: record it again");
    is_refused(&step, 16, 1024, "recorded at B=8 only");
    plim_step_done(&step);
}

/* Recordings that cannot tell B from S. */
static void test_together(void **state)
{
    struct plim_step step;
    (void)state;
    make(&step, 2, (const uint64_t[][2]){ { 4, 128 }, { 2, 256 } }, 2);
    holds(&step, 4, 128, 0, PLIM_STEP_RECORDED);
    is_refused(&step, 3, 200, "B changed with other variables only");
    plim_step_done(&step);
    make(&step, 2, (const uint64_t[][2]){ { 4, 128 }, { 2, 256 }, { 4, 256 } }, 3);
    holds(&step, 3, 200, 0, PLIM_STEP_BETWEEN);
    plim_step_done(&step);
}

/* A mask of one byte a row, and what has 64 bytes for each: both in a loop over pieces of 4,096 rows. */
static void make_pieces(struct plim_step *step, uint64_t piece, int64_t fixed, int64_t each)
{
    static const uint64_t points[][2] = { { 2, 512 }, { 4, 512 }, { 6, 512 } };
    make(step, 2, points, COUNT(points));
    const uint32_t line = hand_site(step, 20);
    step->sites[line].loop = 1;
    step->sites[line].piece = piece;
    struct plim_step_track *track = hand_track(&step->shapes[0]);
    (void)hand_take(track, hand_size(&step->shapes[0], 0, 512), hand_site(step, 30), 0, 0);
    (void)hand_take(track, hand_size(&step->shapes[0], fixed, each), line, 0, 0);
}

static void test_pieces(void **state)
{
    struct plim_step step;
    struct plim_error error = { 0 };
    struct plim_step_choice choice;
    (void)state;
    make_pieces(&step, 4096, 0, 64 * 512);
    holds(&step, 5, 512, 0, PLIM_STEP_BETWEEN);
    holds(&step, 1, 512, 0, PLIM_STEP_BEYOND);
    holds(&step, 8, 512, 0, PLIM_STEP_BEYOND); /* 4,096 rows: one piece */
    is_refused(&step, 9, 512, "the program works in pieces of 4096 at train.py, and no recording has several");
    assert_int_equal(plim_step_choose(&step, &(struct plim_step_point){ { 9, 512 } }, &choice, &error),
                     PLIM_E_UNSUPPORTED);
    assert_non_null(strstr(error.hint, "--vary B=...,11,19")); /* 5,120 rows are two turns, 9,216 three */
    step.shapes[0].sizes[1].most_bytes = 64 * 4096;            /* the recordings show the end */
    holds(&step, 9, 512, 0, PLIM_STEP_BEYOND);
    plim_step_done(&step);
    make_pieces(&step, 4096, 0, 64 * 512);
    step.shapes[0].tracks[0].allocations[0].size = 1; /* nothing tells how many rows there are */
    is_refused(&step, 7, 512, "in pieces of 4096");
    plim_step_done(&step);
    make_pieces(&step, 0, 0, 64 * 512);
    is_refused(&step, 7, 512, "the program works in pieces at train.py");
    plim_step_done(&step);
    make_pieces(&step, 0, 64 * 512, 0); /* does not grow */
    holds(&step, 100, 512, 0, PLIM_STEP_BEYOND);
    plim_step_done(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_recording), cmocka_unit_test(test_one_shape), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_mixed),         cmocka_unit_test(test_corner),    cmocka_unit_test(test_together),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

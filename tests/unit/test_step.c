/* SPDX-License-Identifier: MIT */
/* Recorded steps: sizes as polynomials; the file, byte for byte; files that are cut, changed or made to harm. */
#include "base/limits.h"
#include "base/mem.h"
#include "engine/type.h"
#include "heap.h"
#include "model/step_model.h"
#include "step/coding.h"
#include "step/file.h"
#include "step/size.h"
#include "unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- sizes --- */

#define SIZE(first, n, ...)                                                                                            \
    {                                                                                                                  \
        .first_term = (first), .n_terms = (n), .is_exact = true, .denominator = __VA_ARGS__                            \
    }

static void test_sizes(void **state)
{
    enum { BIG = 4 };
    const uint64_t huge = UINT64_C(1) << 40;
    struct plim_step_term terms[] = {
        { 4, { 1, 1 } },      { 512, { 0 } },                     /* 4 B S + 512 */
        { 3, { 0, 2 } },      { -7, { 1 } },                      /* (3 S^2 - 7 B) / 2 */
        { 1, { BIG, BIG } },                                      /* B^4 S^4 */
        { -1, { BIG, BIG } }, { 5, { 0 } },                       /* 5 - B^4 S^4 */
        { INT64_MIN, { 0 } }, { INT64_MAX, { 0 } }, { 3, { 0 } }, /* 2 */
    };
    struct plim_step_size sizes[] = {
        SIZE(0, 2, 1),
        SIZE(2, 2, 2),
        SIZE(4, 1, 1),
        SIZE(5, 2, 1),
        SIZE(7, 3, 1),
        SIZE(10, 0, 1),
        SIZE(4, 3, 1),
        SIZE(0, 2, 1, .rounding = { 1, 7 }),
        SIZE(2, 1, 2, .least_bytes = 10, .multiple_bytes = 4, .most_bytes = 100),
        SIZE(4, 1, 1, .multiple_bytes = 4096),
    };
    const struct plim_step_shape shape = {
        .sizes = sizes, .n_sizes = COUNT(sizes), .terms = terms, .n_terms = COUNT(terms)
    };
    static const struct {
        uint32_t size;
        uint64_t b, s, expect;
    } rows[] = {
        { 0, 2, 1024, 4 * 2 * 1024 + 512 },
        { 0, 0, 1024, 512 },
        { 1, 1, 3, 10 },
        { 1, 2, 3, 6 }, /* 13 / 2, rounded down */
        { 1, 100, 3, 0 },
        { 2, 2, 3, 1296 },
        { 2, UINT64_C(1) << 40, 2, UINT64_MAX },
        { 2, UINT64_C(1) << 40, 0, 0 }, /* whatever the other factor is */
        { 3, UINT64_C(1) << 40, 2, 0 },
        { 3, 1, 1, 4 },
        { 4, 0, 0, 2 },
        { 5, 1, 1, 0 },
        { 6, UINT64_C(1) << 40, 2, UINT64_MAX }, /* both sides beyond all numbers */
        { 7, 3, 129, 4 * 4 * 256 + 512 },        /* B up to a multiple of 2, S of 128 */
        { 7, 4, 256, 4 * 4 * 256 + 512 },
        { 7, UINT64_MAX, 0, 512 },
        { 7, UINT64_MAX, 1, UINT64_MAX },
        { 8, 0, 2, 0 },  /* 6 is less than 10 */
        { 8, 0, 3, 16 }, /* 13.5 */
        { 8, 0, 9, 100 },
        { 9, 1, 1, 4096 },
        { 9, 0, 0, 0 },
        { 9, UINT64_C(1) << 40, 2, UINT64_MAX },
        { 10, 1, 1, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plim_step_point point = { { rows[i].b, rows[i].s } };
        const uint64_t bytes = plim_step_size_bytes(&shape, rows[i].size, &point);
        if (bytes != rows[i].expect)
            fail_msg("row %zu: %llu", i, (unsigned long long)bytes);
    }
    assert_int_equal(plim_step_size_bytes(&shape, 0, &(struct plim_step_point){ { huge, huge } }), UINT64_MAX);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(plim_step_is_name("B") && plim_step_is_name("seq_len2") && plim_step_is_name("_"));
    assert_false(plim_step_is_name("") || plim_step_is_name("2B") || plim_step_is_name("a-b") ||
                 plim_step_is_name("B{"));
    assert_true(plim_step_is_name("a123456789012345678901234567890"));
    assert_false(plim_step_is_name("a1234567890123456789012345678901"));
}

/* --- a step by hand, and its file --- */

static bool retries[] = { true, false };
static struct plim_step_event events[] = {
    { 0, 0, 0, PLIM_STEP_TAKE },  { 1, 1, 0, PLIM_STEP_TAKE },         { 0, 1, 0, PLIM_STEP_GIVE_LATER },
    { 0, 0, 0, PLIM_STEP_GIVEN }, { 0, 0, 1, PLIM_STEP_EMPTY },        { 2, 0, 1, PLIM_STEP_TAKE },
    { 2, 0, 1, PLIM_STEP_GIVE },  { 0, 0, 1, PLIM_STEP_RELEASE_POOL }, { 0, 0, 1, PLIM_STEP_EMPTY_POOL },
};
static struct plim_step_allocation allocations[] = {
    { 0, PLIM_STEP_NO_SITE, PLIM_PILLAR_WEIGHTS, PLIM_PHASE_MAX_ },
    { 1, 0, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD },
    { 1, 0, PLIM_PILLAR_MAX_, PLIM_PHASE_BACKWARD },
};
static struct plim_step_mark marks[] = { { 1, 0, PLIM_PHASE_FORWARD }, { 9, 1, PLIM_PHASE_MAX_ } };
static struct plim_step_peaks peaks[] = { { 1 << 20, 2 << 20 }, { 1 << 20, PLIM_STEP_UNKNOWN_BYTES } };
static struct plim_step_track tracks[] = {
    { .rank = 3,
      .device = 1,
      .n_streams = 2,
      .n_pools = 2,
      .end = PLIM_STEP_END_STEPS,
      .starts_late = true,
      .has_retries = retries,
      .events = events,
      .n_events = COUNT(events),
      .allocations = allocations,
      .n_allocations = COUNT(allocations),
      .marks = marks,
      .n_marks = COUNT(marks),
      .recorded = peaks,
      .outside_bytes = PLIM_STEP_UNKNOWN_BYTES,
      .capacity_bytes = 300 },
    { .rank = 4, .n_streams = 1, .n_pools = 1, .capacity_bytes = PLIM_STEP_UNKNOWN_BYTES },
};
static struct plim_step_term terms[] = { { 512, { 0 } }, { -3, { 1 } } };
static struct plim_step_size sizes[] = {
    SIZE(0, 1, 1),
    { .n_terms = 2, .denominator = 2, .rounding = { 7 }, .most_bytes = 300 },
};
static struct plim_step_point points[] = { { { 1 } }, { { 2 } } };
static struct plim_step_shape shapes[] = {
    { points, COUNT(points), tracks, COUNT(tracks), sizes, COUNT(sizes), terms, COUNT(terms), 0.25, -1 },
};
static struct plim_step_site sites[] = { { .file = 1, .line = 300 } };
static char text[] = "\0a.py\0run {B}";
static const struct plim_step sample = {
    .torch_version = "2.15.0",
    .alloc_conf = "",
    .card_name = "RTX",
    .card_bytes = 128,
    .command = 6,
    .n_variables = 1,
    .variables = { { "B" } },
    .shapes = shapes,
    .n_shapes = 1,
    .sites = sites,
    .n_sites = 1,
    .text = text,
    .text_bytes = sizeof text,
};

/* What docs/internals/step.md says, field by field. */
/* clang-format off */
static const unsigned char file[] = {
    /* magic bytes, version */
    0x89, 'P', 'L', 'S', 'T', 'E', 'P', '\n', 1,
    /* PyTorch, settings, card, its memory */
    6, '2', '.', '1', '5', '.', '0', 0, 3, 'R', 'T', 'X', 0x80, 1,
    /* texts, command */
    14, 0, 'a', '.', 'p', 'y', 0, 'r', 'u', 'n', ' ', '{', 'B', '}', 0, 6,
    /* variables, sites */
    1, 1, 'B', 1, 1, 0, 0xac, 2,
    /* shapes, points */
    1, 2, 1, 2,
    /* errors of recordings that were left out */
    0, 0, 0, 0, 0, 0, 0xd0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0xbf,
    /* sizes, terms: 512; (512 - 3 B) / 2 where B counts in multiples of 128, at most 300 */
    2, 3, 5, 1, 0x80, 8, 0, 10, 7, 0, 0, 0, 0xac, 2, 2, 0x80, 8, 0, 5, 1,
    /* tracks: rank, device, streams, pools, end, flags; retries */
    2, 3, 1, 2, 2, 2, 7, 1, 0,
    /* peaks; outside, capacity */
    0x81, 0x80, 0x40, 0x81, 0x80, 0x80, 1, 0x81, 0x80, 0x40, 0, 0, 0xad, 2,
    /* allocations, events, marks */
    3, 0, 0, 0x0f, 1, 1, 0x23, 1, 1, 0xf4,
    9, 0, 8, 1, 2, 1, 11, 0, 1, 20, 1, 0, 1, 0, 5, 6,
    2, 1, 0, 3, 8, 1, 15,
    /* the second track */
    4, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0,
};
/* clang-format on */

static struct plim_step read_well(const unsigned char *bytes, size_t n)
{
    struct plim_cursor cursor = plim_cursor(bytes, n);
    struct plim_error error = { 0 };
    struct plim_step step;
    if (plim_step_read_bytes(&cursor, &step, &error) < 0)
        fail_msg("%s (at %llu)", error.what, (unsigned long long)error.at);
    return step;
}

static void test_file_by_hand(void **state)
{
    unsigned char *bytes;
    size_t n;
    (void)state;
    assert_int_equal(plim_step_encode(&sample, &bytes, &n, NULL), 0);
    for (size_t i = 0; i < sizeof file && i < n; i++)
        if (bytes[i] != file[i])
            fail_msg("byte %zu is %02x, expected %02x", i, bytes[i], file[i]);
    assert_int_equal(n, sizeof file + PLIM_STEP_SUM_BYTES);
    uint64_t sum = PLIM_STEP_SUM_START, written = 0;
    for (size_t i = 0; i < sizeof file; i++)
        sum = plim_step_sum(sum, file[i]);
    for (unsigned i = 0; i < PLIM_STEP_SUM_BYTES; i++)
        written |= (uint64_t)bytes[sizeof file + i] << 8 * i;
    assert_true(sum == written);
    plim_free(bytes);
}

static void test_round_trip(void **state)
{
    unsigned char *bytes;
    size_t n;
    (void)state;
    assert_int_equal(plim_step_encode(&sample, &bytes, &n, NULL), 0);
    struct plim_step step = read_well(bytes, n);
    assert_string_equal(step.torch_version, "2.15.0");
    assert_string_equal(step.card_name, "RTX");
    assert_int_equal(step.card_bytes, 128);
    assert_string_equal(plim_step_text(&step, step.command), "run {B}");
    assert_string_equal(plim_step_text(&step, step.sites[0].file), "a.py");
    assert_string_equal(plim_step_text(&step, 1000), "");
    assert_string_equal(step.variables[0].name, "B");
    const struct plim_step_shape *shape = &step.shapes[0];
    assert_true(shape->left_out_allocated_error == 0.25 && shape->left_out_reserved_error == -1);
    assert_int_equal(plim_step_size_bytes(shape, 1, &shape->points[1]), 64);
    assert_true(shape->sizes[0].is_exact && !shape->sizes[1].is_exact);
    const struct plim_step_track *track = &shape->tracks[0];
    assert_int_equal(track->n_events, COUNT(events));
    for (size_t i = 0; i < COUNT(events); i++)
        assert_true(track->events[i].id == events[i].id && track->events[i].stream == events[i].stream &&
                    track->events[i].pool == events[i].pool && track->events[i].kind == events[i].kind);
    for (size_t i = 0; i < COUNT(allocations); i++)
        assert_true(track->allocations[i].size == allocations[i].size &&
                    track->allocations[i].site == allocations[i].site &&
                    track->allocations[i].pillar == allocations[i].pillar &&
                    track->allocations[i].phase == allocations[i].phase);
    for (size_t i = 0; i < COUNT(marks); i++)
        assert_true(track->marks[i].event == marks[i].event && track->marks[i].step == marks[i].step &&
                    track->marks[i].phase == marks[i].phase);
    for (size_t i = 0; i < COUNT(points); i++)
        assert_true(track->recorded[i].allocated_bytes == peaks[i].allocated_bytes &&
                    track->recorded[i].reserved_bytes == peaks[i].reserved_bytes);
    assert_true(track->rank == 3 && track->device == 1 && track->end == PLIM_STEP_END_STEPS && track->starts_late);
    assert_true(track->has_retries[0] && !track->has_retries[1] && !shape->tracks[1].has_retries);
    assert_true(track->outside_bytes == PLIM_STEP_UNKNOWN_BYTES && track->capacity_bytes == 300);
    assert_true(shape->tracks[1].outside_bytes == 0 && shape->tracks[1].capacity_bytes == PLIM_STEP_UNKNOWN_BYTES);
    plim_step_done(&step);
    plim_free(bytes);
}

/* --- files that are no steps --- */

static void set_sum(unsigned char *bytes, size_t n)
{
    uint64_t sum = PLIM_STEP_SUM_START;
    for (size_t i = 0; i < n - PLIM_STEP_SUM_BYTES; i++)
        sum = plim_step_sum(sum, bytes[i]);
    for (unsigned i = 0; i < PLIM_STEP_SUM_BYTES; i++)
        bytes[n - PLIM_STEP_SUM_BYTES + i] = (unsigned char)(sum >> 8 * i);
}

/* Refused with a reason and a place, or a step that is written as it was read. */
static bool is_read(const unsigned char *bytes, size_t n, struct plim_error *ret_error)
{
    struct plim_cursor cursor = plim_cursor(bytes, n);
    struct plim_step step;
    *ret_error = (struct plim_error){ 0 };
    if (plim_step_read_bytes(&cursor, &step, ret_error) < 0) {
        assert_true(ret_error->what[0] && ret_error->at <= n);
        return false;
    }
    unsigned char *again;
    size_t n_again;
    assert_int_equal(plim_step_encode(&step, &again, &n_again, ret_error), 0);
    assert_int_equal(n_again, n);
    assert_memory_equal(again, bytes, n);
    plim_free(again);
    plim_step_done(&step);
    return true;
}

static void test_damaged(void **state)
{
    unsigned char bytes[sizeof file + PLIM_STEP_SUM_BYTES + 1];
    const size_t n = sizeof bytes - 1;
    struct plim_error error;
    size_t n_read = 0;
    (void)state;
    memcpy(bytes, file, sizeof file);
    set_sum(bytes, n);
    assert_true(is_read(bytes, n, &error));
    for (size_t i = 0; i < n; i++) {
        assert_false(is_read(bytes, i, &error));
        assert_int_equal(error.code, PLIM_E_TRUNCATED);
    }
    bytes[n] = 0;
    assert_false(is_read(bytes, n + 1, &error));
    assert_int_equal(error.at, n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char before = bytes[i];
        for (unsigned value = 0; value < 256; value++) {
            bytes[i] = (unsigned char)value;
            if (value != before)
                assert_false(is_read(bytes, n, &error));
            set_sum(bytes, n); /* as one who means harm would */
            n_read += is_read(bytes, n, &error);
            bytes[i] = before;
            set_sum(bytes, n);
        }
    }
    assert_true(n_read > 1000); /* other names, numbers of lines, peaks ... */
}

static void test_refused(void **state)
{
    static const struct {
        size_t at; /* of the byte that is another one */
        unsigned char byte;
        int code;
        const char *what;
        size_t error_at;
    } rows[] = {
        { 0, 'x', PLIM_E_UNSUPPORTED, "not a recorded step", 0 },
        { 8, 3, PLIM_E_UNSUPPORTED, "a recorded step of version 3, expected 2 at most", 8 },
        { 9, 32, PLIM_E_CORRUPT, "the version of PyTorch is 32, expected at most 31", 9 },
        { 12, 0, PLIM_E_CORRUPT, "a text has a NUL inside", 10 },
        { 24, 'x', PLIM_E_CORRUPT, "texts begin and end with a NUL", 23 },
        { 38, 14, PLIM_E_CORRUPT, "the command's text is 14, expected at most 13", 38 },
        { 39, 9, PLIM_E_CORRUPT, "variables is 9, expected at most 8", 39 },
        { 41, '1', PLIM_E_CORRUPT, "a variable's name has letters, digits and _", 40 },
        { 42, 127, PLIM_E_TRUNCATED, "127 sites do not fit into the rest of the file", 42 },
        { 48, 0, PLIM_E_CORRUPT, "a shape has no point", 48 },
        { 58, 0x7f, PLIM_E_CORRUPT, "an error is not a number", 51 },
    };
    unsigned char bytes[sizeof file + PLIM_STEP_SUM_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_error error;
        memcpy(bytes, file, sizeof file);
        bytes[rows[i].at] = rows[i].byte;
        if (rows[i].at == 58)
            bytes[57] = 0xf8;
        set_sum(bytes, sizeof bytes);
        if (is_read(bytes, sizeof bytes, &error) || error.code != rows[i].code ||
            strcmp(error.what, rows[i].what) != 0 || error.at != rows[i].error_at)
            fail_msg("row %zu: %d \"%s\" at %llu", i, error.code, error.what, (unsigned long long)error.at);
    }
}

/* What the first version lacks makes a file of the second, which has nothing else to be one. */
static void test_versions(void **state)
{
    enum { END_OF_SITES = 47 };
    struct plim_step_site site = { .file = 1, .line = 300, .loop = 6, .piece = 4096 };
    struct plim_step step = sample;
    struct plim_error error = { 0 };
    unsigned char *bytes;
    size_t n;
    (void)state;
    step.sites = &site;
    assert_int_equal(plim_step_encode(&step, &bytes, &n, NULL), 0);
    assert_int_equal(bytes[8], 2);
    assert_int_equal(n, sizeof file + PLIM_STEP_SUM_BYTES + 3 + 1 + 2); /* the loop; the bounds; loops of two tracks */
    struct plim_step read = read_well(bytes, n);
    assert_string_equal(plim_step_text(&read, read.sites[0].loop), "run {B}");
    assert_int_equal(read.sites[0].piece, 4096);
    plim_step_done(&read);
    assert_true(is_read(bytes, n, &error));
    plim_free(bytes);
    site.piece = 0; /* not known */
    assert_int_equal(plim_step_encode(&step, &bytes, &n, NULL), 0);
    assert_true(is_read(bytes, n, &error));
    plim_free(bytes);
    site.loop = sizeof text;
    assert_int_equal(plim_step_encode(&step, &bytes, &n, &error), PLIM_E_INTERNAL);
    site.loop = 6;
    site.piece = 1;
    assert_int_equal(plim_step_encode(&step, &bytes, &n, NULL), 0);
    memmove(bytes + END_OF_SITES, bytes + END_OF_SITES + 1, n - END_OF_SITES - 1);
    bytes[END_OF_SITES] = 0; /* no loop */
    set_sum(bytes, n - 1);
    assert_false(is_read(bytes, n - 1, &error));
    plim_free(bytes);
    assert_string_equal(error.what, "a step of a newer version has nothing that needs it");
}

/* Steps that break a rule are not written. */
static void test_objections(void **state)
{
    static struct plim_step_event takes_second[] = { { 1, 0, 0, PLIM_STEP_TAKE }, { 0, 0, 0, PLIM_STEP_TAKE } };
    static struct plim_step_event gives_first[] = { { 0, 0, 0, PLIM_STEP_GIVE }, { 0, 0, 0, PLIM_STEP_TAKE } };
    static struct plim_step_event gives_twice[] = { { 0, 0, 0, PLIM_STEP_TAKE },
                                                    { 0, 0, 0, PLIM_STEP_GIVE },
                                                    { 0, 0, 0, PLIM_STEP_GIVE } };
    static struct plim_step_event given_never_left[] = { { 0, 0, 0, PLIM_STEP_TAKE }, { 0, 0, 0, PLIM_STEP_GIVEN } };
    static struct plim_step_event other_stream[] = { { 0, 1, 0, PLIM_STEP_TAKE } };
    static struct plim_step_event other_kind[] = { { 0, 0, 0, PLIM_STEP_EVENT_MAX_ } };
    static struct plim_step_event has_id[] = { { 0, 0, 0, PLIM_STEP_TAKE }, { 1, 0, 0, PLIM_STEP_EMPTY } };
    static const struct {
        struct plim_step_event *events;
        size_t n_events;
        uint32_t n_allocations;
        const char *what;
    } rows[] = {
        { takes_second, 2, 2, "this is no step: allocations are taken in the order of their numbers" },
        { gives_first, 2, 1, "this is no step: an allocation is given back before it is taken" },
        { gives_twice, 3, 1, "this is no step: an allocation is given back that is not held" },
        { given_never_left, 2, 1, "this is no step: an allocation is given back that is not held" },
        { other_stream, 1, 1, "this is no step: a stream or a pool that the track does not have" },
        { other_kind, 1, 0, "this is no step: a kind of event that this version does not have" },
        { has_id, 2, 1, "this is no step: an event without an allocation has the number of one" },
        { takes_second, 0, 1, "this is no step: an allocation is never taken" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_step_track track = { .n_streams = 1,
                                         .n_pools = 1,
                                         .events = rows[i].events,
                                         .n_events = rows[i].n_events,
                                         .allocations = allocations,
                                         .n_allocations = rows[i].n_allocations };
        struct plim_step_shape shape = shapes[0];
        struct plim_step step = sample;
        struct plim_error error = { 0 };
        unsigned char *bytes;
        size_t n;
        shape.tracks = &track;
        shape.n_tracks = 1;
        step.shapes = &shape;
        assert_int_equal(plim_step_encode(&step, &bytes, &n, &error), PLIM_E_INTERNAL);
        assert_string_equal(error.what, rows[i].what);
    }
}

/* --- memory, files, many events --- */

static void test_no_memory(void **state)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    long failures = 0;
    (void)state;
    for (bool is_done = false; !is_done; failures++) {
        struct plim_error error = { 0 };
        plim_alloc_fail_after(failures);
        is_done = plim_step_encode(&sample, &bytes, &n, &error) == 0;
        plim_alloc_fail_after(-1);
        assert_true(is_done || error.code == PLIM_E_NOMEM);
    }
    assert_true(failures > 2);
    failures = 0;
    for (bool is_done = false; !is_done; failures++) {
        struct plim_error error = { 0 };
        struct plim_cursor cursor = plim_cursor(bytes, n);
        struct plim_step step;
        plim_alloc_fail_after(failures);
        is_done = plim_step_read_bytes(&cursor, &step, &error) == 0;
        plim_alloc_fail_after(-1);
        assert_true(is_done || error.code == PLIM_E_NOMEM);
        if (is_done)
            plim_step_done(&step);
    }
    assert_true(failures > 10);
    plim_free(bytes);
}

/* Onto a disk that is full after some bytes. */
static int write_cut(const char *path)
{
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    few.rlim_cur = 16;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    const int result = plim_step_write(path, &sample, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    return result;
}

static void test_write(void **state)
{
    char folder[] = "/tmp/plimsoll-step-XXXXXX", path[64], other[64];
    struct plim_error error = { 0 };
    struct plim_step step, empty = { .n_variables = 99 };
    struct stat status;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.step", folder);
    snprintf(other, sizeof other, "%s/none/run.step", folder);
    assert_int_equal(plim_step_write(path, &sample, &error), 0);
    assert_int_equal(plim_step_write(path, &sample, &error), 0);              /* over the old one */
    assert_int_equal(plim_step_write(path, &empty, &error), PLIM_E_INTERNAL); /* which stays */
    assert_int_equal(plim_step_read(path, &step, NULL), 0);
    assert_int_equal(step.n_shapes, 1);
    plim_step_done(&step);
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_step_write(other, &sample, &error), PLIM_E_NOT_FOUND);
    assert_string_equal(error.where, other);
    assert_int_equal(plim_step_write(folder, &sample, NULL), PLIM_E_IO);
    assert_int_equal(plim_step_write("/dev/null", &sample, NULL), PLIM_E_IO);
    assert_true(plim_step_read(folder, &step, NULL) < 0);
    assert_int_equal(plim_step_read(other, &step, NULL), PLIM_E_NOT_FOUND);
    assert_int_equal(write_cut(path), PLIM_E_IO);
    assert_int_equal(plim_step_read(path, &step, NULL), 0);
    plim_step_done(&step);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing is left in it */
}

static void put_file(const char *path, const void *bytes, size_t n)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

/* In the place of a model: recognised by its magic bytes, or by its name where these are damaged. */
static void test_as_model(void **state)
{
    char folder[] = "/tmp/plimsoll-step-XXXXXX", path[64], cut[64];
    struct plim_model *model;
    struct plim_engine *engine;
    struct plim_error error = { 0 };
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/recording", folder);
    snprintf(cut, sizeof cut, "%s/cut.step", folder);
    assert_int_equal(plim_step_write(path, &sample, &error), 0);
    assert_int_equal(plim_model_open(path, &model, &error), 0);
    assert_int_equal(plim_model_kind(model), PLIM_MODEL_STEP);
    assert_string_equal(plim_model_format_name(plim_model_format(model)), "step");
    assert_string_equal(plim_model_name(model), "recording");
    assert_string_equal(plim_model_arch(model), "");
    assert_int_equal(plim_model_step(model)->n_shapes, 1);
    assert_int_equal(plim_model_tensor_bytes(model), 0);
    assert_int_equal(plim_model_require_tensors(model, &error), PLIM_E_UNSUPPORTED);
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_engine_new(model, plim_engine_type_at(0), NULL, &engine, &error), PLIM_E_UNSUPPORTED);
    assert_string_equal(error.what, "llama.cpp reads GGUF files, and this is a recorded step of PyTorch");
    assert_string_equal(error.hint, "--engine torch answers for it");
    plim_model_free(model);
    put_file(cut, plim_step_magic, 3);
    error = (struct plim_error){ 0 };
    assert_int_equal(plim_model_open(cut, &model, &error), PLIM_E_TRUNCATED);
    assert_string_equal(error.what, "the file ends within the magic bytes of a recorded step");
    assert_string_equal(error.where, cut);
    assert_int_equal(unlink(path) + unlink(cut) + rmdir(folder), 0);
}

/* The smallest things that a file can have many of take at most 24 times their bytes. */
static void test_memory(void **state)
{
    enum { N = 200000 };
    struct plim_step_size *many = plim_alloc(N, sizeof *many);
    struct plim_step_event *empties = plim_alloc(N, sizeof *empties);
    struct plim_step_track track = { .n_streams = 1, .n_pools = 1, .events = empties, .n_events = N };
    struct plim_step_shape shape = shapes[0];
    struct plim_step step = sample;
    (void)state;
    assert_true(many && empties);
    for (size_t i = 0; i < N; i++) {
        many[i].denominator = 1;
        empties[i].kind = PLIM_STEP_EMPTY;
    }
    step.shapes = &shape;
    shape.tracks = &track;
    for (int is_events = 0; is_events < 2; is_events++) {
        unsigned char *bytes;
        size_t n;
        shape.sizes = many;
        shape.n_sizes = is_events ? 0 : N;
        shape.n_tracks = is_events ? 1 : 0;
        assert_int_equal(plim_step_encode(&step, &bytes, &n, NULL), 0);
        heap_start();
        const size_t before = heap_live_bytes();
        struct plim_step again = read_well(bytes, n);
        assert_true(heap_peak_bytes() - before > N && heap_peak_bytes() - before <= 24 * n);
        plim_step_done(&again);
        assert_int_equal(heap_live_bytes(), before);
        plim_free(bytes);
    }
    plim_free(many);
    plim_free(empties);
}

/* 100,000 events, as many allocations live as in a real step, are far below 1 MB. */
static void test_many(void **state)
{
    enum { N = 50000, LIVE = 2000 };
    struct plim_step_track track = { .n_streams = 1, .n_pools = 1, .n_allocations = N, .n_events = 2 * N };
    struct plim_step_shape shape = shapes[0];
    struct plim_step step = sample;
    unsigned char *bytes;
    size_t n, at = 0;
    (void)state;
    track.events = plim_alloc(2 * N, sizeof *track.events);
    track.allocations = plim_alloc(N, sizeof *track.allocations);
    for (uint32_t i = 0; i < N + LIVE; i++) {
        if (i < N)
            track.events[at++] = (struct plim_step_event){ i, 0, 0, PLIM_STEP_TAKE };
        if (i >= LIVE)
            track.events[at++] = (struct plim_step_event){ i - LIVE, 0, 0, PLIM_STEP_GIVE };
    }
    shape.tracks = &track;
    shape.n_tracks = 1;
    step.shapes = &shape;
    assert_int_equal(plim_step_encode(&step, &bytes, &n, NULL), 0);
    assert_true(n < 400000);
    struct plim_step again = read_well(bytes, n);
    assert_int_equal(again.shapes[0].tracks[0].n_events, 2 * N);
    plim_step_done(&again);
    plim_free(bytes);
    plim_free(track.events);
    plim_free(track.allocations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_names),      cmocka_unit_test(test_file_by_hand),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damaged),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_versions),   cmocka_unit_test(test_objections), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_write),      cmocka_unit_test(test_many),       cmocka_unit_test(test_memory),
        cmocka_unit_test(test_as_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The bill of a recorded step: it says no exactly where the replay runs out of memory, and exact only where it may. */
#include "engine/torch/engine.h"

#include "base/numbers.h"
#include "base/units.h"
#include "hand_step.h"
#include "model/step_model.h"
#include "step/file.h"

#include <unistd.h>

/* Through a file, as a user's: the model and its engine are the caller's to free. */
static struct plim_engine *open_step(const struct plim_step *step, struct plim_model **ret_model)
{
    char path[] = "/tmp/plimsoll-fit-XXXXXX.step";
    struct plim_error error = { 0 };
    struct plim_engine *engine = NULL;
    const int file = mkstemps(path, 5);
    assert_true(file >= 0);
    close(file);
    if (plim_step_write(path, step, &error) < 0 || plim_model_open(path, ret_model, &error) < 0)
        fail_msg("%s", error.what);
    unlink(path);
    if (plim_engine_new(*ret_model, plim_engine_type_of_kind(PLIM_MODEL_STEP), NULL, &engine, &error) < 0)
        fail_msg("%s", error.what);
    return engine;
}

static void add_recorded(struct plim_step_track *track, uint64_t allocated_bytes, uint64_t reserved_bytes, size_t n)
{
    track->recorded = plim_alloc(n, sizeof *track->recorded);
    assert_non_null(track->recorded);
    for (size_t i = 0; i < n; i++)
        track->recorded[i] = (struct plim_step_peaks){ allocated_bytes, reserved_bytes };
}

/* Weights, and activations of B x 32 MiB twice; all of it recorded at B=2. */
static struct plim_step_track *make(struct plim_step *step, bool is_exact)
{
    *step = (struct plim_step){ .n_variables = 1, .variables = { { "B" } }, .card_name = "GeForce RTX 4090" };
    const uint32_t line = hand_site(step, 7);
    struct plim_step_shape *shape = hand_shape(step);
    const uint32_t constant = hand_size(shape, 64 * PLIM_MIB, 0), growing = hand_size(shape, 0, 32 * PLIM_MIB);
    hand_point(shape, 2, 0);
    struct plim_step_track *track = hand_track(shape);
    hand_mark(track, 0, PLIM_PHASE_FORWARD);
    hand_take(track, constant, line, PLIM_PILLAR_WEIGHTS, PLIM_PHASE_LOAD);
    hand_take(track, growing, line, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    hand_give(track, hand_take(track, growing, line, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD));
    add_recorded(track, 192 * PLIM_MIB, (is_exact ? 192 : 194) * PLIM_MIB, 1);
    track->outside_bytes = 5 * PLIM_MIB;
    return track;
}

/* Cards of the recorded generation. */
static struct plim_machine budget_of(uint64_t bytes, uint32_t n_cards)
{
    struct plim_machine machine = { .n_cards = n_cards };
    for (uint32_t i = 0; i < n_cards; i++) {
        plim_card_of_budget(bytes, &machine.card[i]);
        machine.card[i].compute_capability = 89;
    }
    return machine;
}

static void bill_of(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    struct plim_bill *ret_bill)
{
    struct plim_error error = { 0 };
    if (plim_engine_bill(engine, setup, machine, NULL, ret_bill, &error) < 0)
        fail_msg("%s", error.what);
}

static const struct plim_line *line_of(const struct plim_bill *bill, const char *label)
{
    for (uint32_t i = 0; i < bill->device[0].n_lines; i++)
        if (!strcmp(bill->device[0].line[i].label, label))
            return &bill->device[0].line[i];
    fail_msg("no line %s", label);
    return NULL;
}

static void test_basis(void **state)
{
    (void)state;
    for (int is_exact = 0; is_exact < 2; is_exact++) {
        struct plim_step step;
        struct plim_model *model = NULL;
        struct plim_setup setup;
        struct plim_bill bill;
        const struct plim_machine machine = budget_of(8 * PLIM_GIB, 1);
        make(&step, is_exact);
        struct plim_engine *engine = open_step(&step, &model);
        plim_setup_init(&setup, engine->type);
        bill_of(engine, &setup, &machine, &bill);
        const enum plim_basis basis = is_exact ? PLIM_BASIS_EXACT : PLIM_BASIS_FORMULA;
        assert_int_equal(line_of(&bill, "parameters")->bytes, 64 * PLIM_MIB);
        assert_int_equal(line_of(&bill, "activations")->bytes, 128 * PLIM_MIB);
        assert_int_equal(line_of(&bill, "activations")->basis, basis);
        assert_int_equal(line_of(&bill, "libraries")->bytes, 5 * PLIM_MIB);
        assert_int_equal(bill.caveat == NULL, is_exact);
        assert_int_equal(bill.verdict, PLIM_VERDICT_FITS);
        assert_int_equal(plim_setup_set(&setup, "--alloc-conf", "expandable_segments:True", NULL), 0);
        bill_of(engine, &setup, &machine, &bill);
        assert_non_null(bill.caveat);
        plim_engine_free(engine);
        plim_model_free(model);
        plim_step_done(&step);
    }
}

/* A card without a name may be of any generation. */
static void test_any_card(void **state)
{
    struct plim_step step;
    struct plim_model *model = NULL;
    struct plim_setup setup;
    struct plim_bill bill;
    struct plim_machine machine = budget_of(8 * PLIM_GIB, 1);
    (void)state;
    make(&step, true)->outside_bytes = 9 * PLIM_MIB;
    machine.card[0].compute_capability = 0;
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    bill_of(engine, &setup, &machine, &bill);
    assert_non_null(strstr(bill.caveat, "recorded on GeForce RTX 4090"));
    assert_int_equal(line_of(&bill, "parameters")->basis, PLIM_BASIS_FORMULA);
    assert_int_equal(line_of(&bill, "libraries")->bytes, 9 * PLIM_MIB);
    assert_int_equal(line_of(&bill, "libraries")->high_bytes, (9 + 64 - 8) * PLIM_MIB); /* Hopper's cuBLAS */
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* A program that was stopped while it was recorded may need more later. */
static void test_stopped(void **state)
{
    struct plim_step step;
    struct plim_model *model = NULL;
    struct plim_setup setup;
    struct plim_bill bill;
    const struct plim_machine machine = budget_of(8 * PLIM_GIB, 1);
    (void)state;
    make(&step, true)->end = PLIM_STEP_END_UNKNOWN;
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    bill_of(engine, &setup, &machine, &bill);
    assert_non_null(bill.caveat);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* Where a recording ends for want of memory, more memory shows nothing. */
static void test_end_of_memory(void **state)
{
    struct plim_step step;
    struct plim_model *model = NULL;
    struct plim_setup setup;
    struct plim_bill bill;
    const struct plim_machine large = budget_of(8 * PLIM_GIB, 1), small = budget_of(200 * PLIM_MIB, 1);
    (void)state;
    struct plim_step_track *track = make(&step, true);
    track->n_events--; /* the return of the last request */
    track->end = PLIM_STEP_END_MEMORY;
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    bill_of(engine, &setup, &large, &bill);
    assert_int_equal(bill.verdict, PLIM_VERDICT_UNKNOWN);
    bill_of(engine, &setup, &small, &bill);
    assert_int_equal(bill.verdict, PLIM_VERDICT_NO);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* --- no, exactly where it runs out of memory --- */

enum { N_EVENTS = 1500, N_LIVE = 60 };

static void make_random(struct plim_step *step, uint64_t *random)
{
    uint32_t live[N_LIVE], n_live = 0;
    *step = (struct plim_step){ .n_variables = 0 };
    struct plim_step_shape *shape = hand_shape(step);
    hand_point(shape, 0, 0);
    for (uint32_t i = 0; i < 40; i++)
        hand_size(shape, 1 + (int64_t)random_below(random, UINT64_C(1) << (14 + i % 13)), 0);
    struct plim_step_track *track = hand_track(shape);
    while (track->n_events < N_EVENTS) {
        if (n_live < N_LIVE && random_below(random, 100) < 55) {
            live[n_live++] = hand_take(track, (uint32_t)random_below(random, 40), PLIM_STEP_NO_SITE,
                                       PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
        } else if (n_live) {
            const size_t i = random_below(random, n_live);
            hand_give(track, live[i]);
            live[i] = live[--n_live];
        }
    }
}

static void test_verdicts(void **state)
{
    uint64_t random = random_seed();
    size_t n_no = 0, n_tight = 0, n_retries = 0;
    (void)state;
    for (int round = 0; round < 6; round++) {
        struct plim_step step;
        struct plim_model *model = NULL;
        struct plim_setup setup;
        struct plim_bill bill;
        make_random(&step, &random);
        struct plim_engine *engine = open_step(&step, &model);
        plim_setup_init(&setup, engine->type);
        struct plim_machine machine = budget_of(PLIM_GIB, 1);
        bill_of(engine, &setup, &machine, &bill);
        const uint64_t need_bytes = bill.device[0].need_bytes;
        for (int k = 0; k < 40; k++) {
            struct plim_torch_room room;
            struct plim_torch_result r;
            machine = budget_of(need_bytes / 4 * 3 + random_below(&random, need_bytes / 2), 1);
            bill_of(engine, &setup, &machine, &bill);
            const struct plim_torch *torch = plim_torch_of(engine);
            assert_int_equal(plim_torch_room_of(torch, plim_torch_wish_of(&setup), 0, &machine.card[0], &room, NULL),
                             0);
            assert_int_equal(plim_torch_tape_replay(&torch->scene.tapes[0], &room.conditions, &r, NULL), 0);
            assert_int_equal(bill.verdict == PLIM_VERDICT_NO, r.n_ooms > 0);
            if (r.n_retries && !r.n_ooms)
                assert_int_equal(bill.verdict, PLIM_VERDICT_TIGHT);
            n_no += r.n_ooms > 0;
            n_tight += bill.verdict == PLIM_VERDICT_TIGHT;
            n_retries += r.n_retries && !r.n_ooms;
        }
        plim_engine_free(engine);
        plim_model_free(model);
        plim_step_done(&step);
    }
    print_message("%zu no, %zu tight, %zu of them with retries\n", n_no, n_tight, n_retries);
    assert_true(n_no > 20 && n_tight > 20 && n_retries > 0);
}

/* --- several devices --- */

static void test_devices(void **state)
{
    struct plim_step step = { .n_variables = 0 };
    struct plim_model *model = NULL;
    struct plim_setup setup;
    struct plim_bill bill;
    struct plim_course course;
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    hand_point(shape, 0, 0);
    for (int rank = 0; rank < 3; rank++) {
        static const int64_t mib[] = { 400, 1000, 600 };
        const uint32_t size = hand_size(shape, mib[rank] * (int64_t)PLIM_MIB, 0);
        hand_take(hand_track(shape), size, PLIM_STEP_NO_SITE, PLIM_PILLAR_WEIGHTS, PLIM_PHASE_LOAD);
    }
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    const struct plim_machine one = budget_of(PLIM_GIB, 1), three = budget_of(PLIM_GIB, 3),
                              two = budget_of(PLIM_GIB, 2);
    bill_of(engine, &setup, &one, &bill);
    assert_int_equal(bill.n_devices, 2); /* with the host */
    assert_int_equal(line_of(&bill, "parameters")->bytes, 1000 * PLIM_MIB);
    assert_int_equal(bill.verdict, PLIM_VERDICT_NO);
    assert_int_equal(engine->type->course(engine, &setup, &one, &bill, &course, NULL), 0);
    assert_int_equal(course.rank, 1);
    bill_of(engine, &setup, &three, &bill);
    assert_int_equal(bill.n_devices, 4);
    assert_int_equal(bill.limiting_device, 1);
    assert_int_equal(bill.device[2].line[0].bytes, 600 * PLIM_MIB);
    assert_int_equal(engine->type->course(engine, &setup, &three, &bill, &course, NULL), 0);
    assert_int_equal(course.rank, 1);
    assert_int_equal(plim_engine_bill(engine, &setup, &two, NULL, &bill, NULL), PLIM_E_USAGE);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* Ranks 0 and 2 share a card: each of them has less room, and a context of its own. */
static void test_shared_card(void **state)
{
    struct plim_step step = { .n_variables = 0 };
    struct plim_model *model = NULL;
    struct plim_setup setup;
    struct plim_bill bill;
    struct plim_course course;
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    hand_point(shape, 0, 0);
    for (int rank = 0; rank < 3; rank++) {
        static const int64_t mib[] = { 400, 800, 600 };
        const uint32_t size = hand_size(shape, mib[rank] * (int64_t)PLIM_MIB, 0);
        struct plim_step_track *track = hand_track(shape);
        track->device = rank == 1 ? 1 : 0;
        hand_take(track, size, PLIM_STEP_NO_SITE, PLIM_PILLAR_WEIGHTS, PLIM_PHASE_LOAD);
        add_recorded(track, (uint64_t)mib[rank] * PLIM_MIB, (uint64_t)mib[rank] * PLIM_MIB, 1);
    }
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    const struct plim_machine one = budget_of(8 * PLIM_GIB, 1), two = budget_of(8 * PLIM_GIB, 2),
                              small = budget_of(PLIM_GIB + PLIM_GIB / 2, 2);
    bill_of(engine, &setup, &one, &bill);
    const struct plim_line *others = line_of(&bill, "other ranks");
    assert_int_equal(line_of(&bill, "parameters")->bytes, 600 * PLIM_MIB);
    assert_true(others->bytes > 400 * PLIM_MIB + line_of(&bill, "CUDA context")->bytes);
    assert_true(others->low_bytes == 0 && others->high_bytes > others->bytes && others->basis == PLIM_BASIS_FORMULA);
    assert_int_equal(engine->type->course(engine, &setup, &one, &bill, &course, NULL), 0);
    assert_int_equal(course.n_tracks, 3);
    assert_int_equal(course.n_devices, 2);
    bill_of(engine, &setup, &two, &bill);
    assert_int_equal(bill.n_devices, 3); /* with the host */
    assert_int_equal(bill.limiting_device, 0);
    assert_int_equal(bill.device[1].line[0].bytes, 800 * PLIM_MIB);
    bill_of(engine, &setup, &small, &bill); /* each alone would fit */
    assert_int_not_equal(bill.verdict, PLIM_VERDICT_FITS);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* PyTorch had more reserved than the recording's requests come to: the bill has it, and nothing is exact. */
static void test_missing(void **state)
{
    struct plim_step step;
    struct plim_model *model = NULL;
    struct plim_setup setup;
    struct plim_bill bill;
    const struct plim_machine machine = budget_of(8 * PLIM_GIB, 1);
    (void)state;
    make(&step, true)->recorded->reserved_bytes += 100 * PLIM_MIB;
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    bill_of(engine, &setup, &machine, &bill);
    assert_int_equal(line_of(&bill, "not in the recording")->bytes, 100 * PLIM_MIB);
    assert_int_equal(line_of(&bill, "parameters")->basis, PLIM_BASIS_FORMULA);
    assert_non_null(bill.caveat);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* What one card was told is kept for the next: each gets the bill that it gets alone, under settings that change. */
static void test_cards_in_turn(void **state)
{
    static const char *const settings[] = { "", "expandable_segments:True", "per_process_memory_fraction:0.5",
                                            "per_process_memory_fraction:0.5,garbage_collection_threshold:0.3" };
    struct plim_step step;
    struct plim_model *model = NULL, *own_model = NULL;
    (void)state;
    make(&step, true);
    struct plim_engine *engine = open_step(&step, &model);
    unsigned n_no = 0, n_fits = 0;
    for (unsigned i = 0; i < 128; i++) { /* first all settings on each card, then all cards under each setting */
        static struct plim_bill bill, own;
        const struct plim_machine machine = budget_of((200 + 100 * ((i < 64 ? i / 4 : i) * 11 % 16)) * PLIM_MIB, 1);
        struct plim_setup setup;
        struct plim_engine *alone = open_step(&step, &own_model);
        plim_setup_init(&setup, engine->type);
        assert_int_equal(
            plim_setup_set(&setup, "--alloc-conf", settings[(i < 64 ? i : i / 16) % COUNT(settings)], NULL), 0);
        bill_of(engine, &setup, &machine, &bill);
        bill_of(alone, &setup, &machine, &own);
        assert_int_equal(bill.verdict, own.verdict);
        assert_int_equal(bill.is_refused, own.is_refused);
        assert_int_equal(bill.device[0].n_lines, own.device[0].n_lines);
        for (uint32_t k = 0; k < own.device[0].n_lines; k++) {
            assert_int_equal(bill.device[0].line[k].bytes, own.device[0].line[k].bytes);
            assert_int_equal(bill.device[0].line[k].high_bytes, own.device[0].line[k].high_bytes);
        }
        n_no += own.verdict == PLIM_VERDICT_NO;
        n_fits += own.verdict == PLIM_VERDICT_FITS;
        plim_engine_free(alone);
        plim_model_free(own_model);
    }
    assert_true(n_no > 4 && n_fits > 4);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* --- many tracks --- */

/* Of processes on one card, each with 1 MiB. */
static struct plim_engine *open_tracks(struct plim_step *step, uint32_t n_tracks, struct plim_model **ret_model)
{
    *step = (struct plim_step){ .n_variables = 0 };
    struct plim_step_shape *shape = hand_shape(step);
    hand_point(shape, 0, 0);
    hand_size(shape, PLIM_MIB, 0);
    for (uint32_t i = 0; i < n_tracks; i++) {
        struct plim_step_track *track = hand_track(shape);
        track->device = 0;
        hand_take(track, 0, PLIM_STEP_NO_SITE, PLIM_PILLAR_WEIGHTS, PLIM_PHASE_LOAD);
    }
    return open_step(step, ret_model);
}

/* Tracks of one card have less room for each other: what all take is added up once, and each takes its own off. */
static void test_many_tracks(void **state)
{
    enum { N_TRACKS = 2000 };
    static struct plim_bill bill;
    const struct plim_machine machine = budget_of(8 * PLIM_GIB, 1);
    const struct plim_card *card = &machine.card[0];
    struct plim_model *model = NULL;
    struct plim_step step;
    struct plim_setup setup;
    (void)state;
    struct plim_engine *engine = open_tracks(&step, N_TRACKS, &model);
    struct plim_torch *torch = (struct plim_torch *)engine;
    plim_setup_init(&setup, engine->type);
    bill_of(engine, &setup, &machine, &bill);
    const uint64_t others = line_of(&bill, "other ranks")->bytes, sum = torch->scene.places[0].sum.bytes;
    assert_int_equal(others % (N_TRACKS - 1), 0);
    assert_int_equal(sum, others / (N_TRACKS - 1) * N_TRACKS);
    torch->scene.places[0].sum.bytes++;
    for (size_t i = 0; i < N_TRACKS; i++) /* from that sum, and not by all tracks again */
        assert_int_equal(plim_torch_others_band(torch, card, i).bytes, others + 1);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* What is beyond all memory hides nothing of what the others take. */
static void test_huge_tracks(void **state)
{
    static struct plim_bill bill;
    const struct plim_machine machine = budget_of(8 * PLIM_GIB, 1);
    const struct plim_card *card = &machine.card[0];
    struct plim_model *model = NULL;
    struct plim_step step;
    struct plim_setup setup;
    (void)state;
    struct plim_engine *engine = open_tracks(&step, 3, &model);
    struct plim_torch *torch = (struct plim_torch *)engine;
    plim_setup_init(&setup, engine->type);
    bill_of(engine, &setup, &machine, &bill);
    const uint64_t each = line_of(&bill, "other ranks")->bytes / 2;
    torch->scene.checks[0].peak_bytes = torch->scene.checks[1].peak_bytes = PLIM_BYTES_MAX;
    torch->scene.places[0].is_made = false;
    const struct plim_overhead_band of_huge = plim_torch_others_band(torch, card, 0),
                                    of_small = plim_torch_others_band(torch, card, 2);
    assert_true(of_huge.bytes > PLIM_MOST_BYTES && of_huge.high_bytes >= of_huge.bytes);
    assert_int_equal(of_small.bytes, 2 * (of_huge.bytes - each));
    torch->scene.places[0].sum.bytes = PLIM_BYTES_MAX; /* cannot be told any more */
    assert_int_equal(plim_torch_others_band(torch, card, 0).bytes, PLIM_BYTES_MAX);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* A replay opens what a track says that it has. */
static void test_many_pools(void **state)
{
    struct plim_step step = { .n_variables = 0 };
    struct plim_error error = { 0 };
    unsigned char *bytes = NULL;
    size_t n_bytes;
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    hand_point(shape, 0, 0);
    for (uint32_t i = 0; i < 9; i++) {
        struct plim_step_track *track = hand_track(shape);
        track->n_streams = track->n_pools = 256;
        const int result = plim_step_encode(&step, &bytes, &n_bytes, &error);
        assert_int_equal(result, i < 8 ? 0 : PLIM_E_INTERNAL);
        plim_free(bytes);
        bytes = NULL;
    }
    plim_step_done(&step);
}

/* --- the largest value --- */

static void test_largest(void **state)
{
    struct plim_step step;
    struct plim_model *model = NULL;
    struct plim_setup setup;
    struct plim_bill bill;
    const struct plim_machine machine = budget_of(4 * PLIM_GIB, 1);
    (void)state;
    make(&step, true);
    hand_point(&step.shapes[0], 4, 0);
    plim_free(step.shapes[0].tracks[0].recorded);
    add_recorded(&step.shapes[0].tracks[0], 0, 0, 2);
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    assert_int_equal(plim_setup_set(&setup, "--max", "B", NULL), 0);
    assert_int_equal(engine->type->settle(engine, &setup, &machine, NULL), 0);
    const struct plim_course_largest *largest = &plim_torch_wish(&setup)->largest;
    assert_true(largest->value > 4 && largest->fails_at == largest->value + 1);
    bill_of(engine, &setup, &machine, &bill);
    assert_int_equal(bill.verdict, PLIM_VERDICT_TIGHT);
    assert_int_equal(plim_torch_wish_set(plim_torch_wish(&setup), "B", largest->fails_at, NULL), 0);
    bill_of(engine, &setup, &machine, &bill);
    assert_int_equal(bill.verdict, PLIM_VERDICT_NO);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* B x 64 MiB that are given back, and then B x 96 MiB: where both do not fit, PyTorch gives the first to the driver. */
static void test_making_room(void **state)
{
    struct plim_step step = { .n_variables = 1, .variables = { { "B" } } };
    struct plim_model *model = NULL;
    struct plim_setup setup;
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    hand_point(shape, 1, 0);
    hand_point(shape, 2, 0);
    const uint32_t first = hand_size(shape, 0, 64 * PLIM_MIB), then = hand_size(shape, 0, 96 * PLIM_MIB);
    struct plim_step_track *track = hand_track(shape);
    hand_give(track, hand_take(track, first, PLIM_STEP_NO_SITE, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD));
    hand_take(track, then, PLIM_STEP_NO_SITE, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    track->outside_bytes = 0;
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    struct plim_torch_room room;
    const struct plim_machine machine = budget_of(2 * PLIM_GIB, 1);
    struct plim_torch *torch = plim_torch_of(engine);
    struct plim_step_point point;
    assert_int_equal(plim_torch_point_of(torch->step, plim_torch_wish(&setup), &point, NULL), 0);
    assert_int_equal(plim_torch_scene_make(torch, &point, NULL), 0);
    assert_int_equal(plim_torch_room_of(torch, plim_torch_wish(&setup), 0, &machine.card[0], &room, NULL), 0);
    assert_int_equal(plim_setup_set(&setup, "--max", "B", NULL), 0);
    assert_int_equal(engine->type->settle(engine, &setup, &machine, NULL), 0);
    const struct plim_course_largest *largest = &plim_torch_wish(&setup)->largest;
    const uint64_t room_mib = room.conditions.capacity_bytes / PLIM_MIB;
    assert_int_equal(largest->value, room_mib / (64 + 96));
    assert_int_equal(largest->fails_at, largest->value + 1);
    assert_int_equal(largest->by_making_room, room_mib / 96);
    assert_int_equal(largest->fits_again, 0);
    assert_int_equal(plim_torch_wish(&setup)->set[0].value, largest->value);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/*
 * 170 - 10 (B - 5)^2 parts that are given back, and then 165 + 2 B: with 186 parts in all B=1 fits, then memory is made
 * short of by the first, and B=10, which has no first, fits again.
 */
static void test_making_no_room(void **state)
{
    const int64_t part = 16 * (int64_t)PLIM_MIB;
    struct plim_step step = { .n_variables = 1, .variables = { { "B" } } };
    struct plim_model *model = NULL;
    struct plim_setup setup;
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    hand_point(shape, 1, 0);
    hand_point(shape, 2, 0);
    const uint32_t first = hand_size(shape, -80 * part, 100 * part);
    HAND_ADD(shape->terms, shape->n_terms, (struct plim_step_term){ .coefficient = -10 * part, .power = { 2 } });
    shape->sizes[first].n_terms = 3;
    const uint32_t then = hand_size(shape, 165 * part, 2 * part);
    struct plim_step_track *track = hand_track(shape);
    hand_give(track, hand_take(track, first, PLIM_STEP_NO_SITE, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD));
    hand_take(track, then, PLIM_STEP_NO_SITE, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    struct plim_torch *torch = plim_torch_of(engine);
    struct plim_torch_room room;
    struct plim_step_point point;
    const uint64_t wanted = 186 * (uint64_t)part, about = wanted + 300 * PLIM_MIB;
    struct plim_machine machine = budget_of(about, 1);
    assert_int_equal(plim_torch_point_of(torch->step, plim_torch_wish(&setup), &point, NULL), 0);
    assert_int_equal(plim_torch_scene_make(torch, &point, NULL), 0);
    assert_int_equal(plim_torch_room_of(torch, plim_torch_wish(&setup), 0, &machine.card[0], &room, NULL), 0);
    machine = budget_of(about + wanted - room.conditions.capacity_bytes, 1);
    assert_int_equal(plim_setup_set(&setup, "--max", "B=1..12", NULL), 0);
    assert_int_equal(engine->type->settle(engine, &setup, &machine, NULL), 0);
    const struct plim_course_largest *largest = &plim_torch_wish(&setup)->largest;
    assert_int_equal(largest->value, 1);
    assert_int_equal(largest->fails_at, 2);
    assert_int_equal(largest->by_making_room, 0);
    assert_int_equal(largest->fits_again, 10);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* A need that rises and falls: 90 - 10 (B - 4)^2 parts of 16 MiB. */
static void test_not_monotonic(void **state)
{
    const int64_t part = 16 * (int64_t)PLIM_MIB;
    struct plim_step step = { .n_variables = 1, .variables = { { "B" } } };
    struct plim_model *model = NULL;
    struct plim_setup setup;
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    hand_point(shape, 1, 0);
    hand_point(shape, 2, 0);
    const uint32_t size = hand_size(shape, -70 * part, 80 * part);
    HAND_ADD(shape->terms, shape->n_terms, (struct plim_step_term){ .coefficient = -10 * part, .power = { 2 } });
    shape->sizes[size].n_terms = 3;
    hand_take(hand_track(shape), size, PLIM_STEP_NO_SITE, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    const struct plim_machine machine = budget_of(60 * (uint64_t)part + 300 * PLIM_MIB, 1);
    assert_int_equal(plim_setup_set(&setup, "--max", "B", NULL), 0);
    assert_int_equal(engine->type->settle(engine, &setup, &machine, NULL), 0);
    const struct plim_course_largest *largest = &plim_torch_wish(&setup)->largest;
    assert_int_equal(largest->value, 2);
    assert_int_equal(largest->fails_at, 3);
    assert_int_equal(largest->fits_again, 6);
    /* as `rehearse --find B=2..10` has it, which never sees 3: 2 fits, 10 fits */
    assert_int_equal(plim_setup_set(&setup, "--max", "B=2..10", NULL), 0);
    assert_int_equal(engine->type->settle(engine, &setup, &machine, NULL), 0);
    assert_int_equal(largest->value, 10);
    assert_int_equal(plim_setup_set(&setup, "--max", "B=2..5", NULL), 0); /* then 3 */
    assert_int_equal(engine->type->settle(engine, &setup, &machine, NULL), 0);
    assert_int_equal(largest->value, 2);
    assert_int_equal(largest->fails_at, 3);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

/* A search ends before a file with many recorded values does: nothing is said of those that were not tried. */
static void test_search_ends(void **state)
{
    enum { MOST_TRIES = 200, N_RECORDED = 300 };
    struct plim_step step = { .n_variables = 1, .variables = { { "B" } } };
    struct plim_model *model = NULL;
    struct plim_setup setup;
    (void)state;
    struct plim_step_shape *shape = hand_shape(&step);
    for (uint64_t i = 1; i <= N_RECORDED; i++)
        hand_point(shape, i, 0);
    const uint32_t size = hand_size(shape, 0, (int64_t)PLIM_GIB);
    hand_take(hand_track(shape), size, PLIM_STEP_NO_SITE, PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD);
    struct plim_engine *engine = open_step(&step, &model);
    plim_setup_init(&setup, engine->type);
    const struct plim_machine machine = budget_of(8 * PLIM_GIB, 1);
    assert_int_equal(plim_setup_set(&setup, "--max", "B", NULL), 0);
    assert_int_equal(engine->type->settle(engine, &setup, &machine, NULL), 0);
    const struct plim_course_largest *largest = &plim_torch_wish(&setup)->largest;
    assert_int_equal(largest->n_tried, MOST_TRIES);
    assert_int_equal(largest->value, 0);
    assert_int_equal(largest->fails_at, N_RECORDED - MOST_TRIES + 1);
    plim_engine_free(engine);
    plim_model_free(model);
    plim_step_done(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped),       cmocka_unit_test(test_basis),
        cmocka_unit_test(test_end_of_memory), cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_shared_card),   cmocka_unit_test(test_missing),
        cmocka_unit_test(test_devices),       cmocka_unit_test(test_largest),
        cmocka_unit_test(test_search_ends),   cmocka_unit_test(test_not_monotonic),
        cmocka_unit_test(test_making_room),   cmocka_unit_test(test_making_no_room),
        cmocka_unit_test(test_any_card),      cmocka_unit_test(test_cards_in_turn),
        cmocka_unit_test(test_many_tracks),   cmocka_unit_test(test_huge_tracks),
        cmocka_unit_test(test_many_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

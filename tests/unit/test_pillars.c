/* SPDX-License-Identifier: MIT */
/* What allocations are for: a training of three steps by hand, with what lives longer than a step. */
#include "base/mem.h"
#include "trace/step/parts.h"
#include "unit.h"

enum { IN_LOOP, IN_MODEL, NO_STACK }; /* stacks */
enum { WEIGHTS, DATA, WORKSPACE, FIRST_ACTIVATION, FIRST_GRADIENT, STATE, ACTIVATION, LAST_ACTIVATION, N };
enum { AT_WEIGHTS = 100, AT_GRADIENT = 300, AT_STATE = 400 };

static char text[] = "\0train.py\0<module>\0torch/nn/modules/module.py\0_call_impl";
static struct plim_trace_frame frames[] = { { 1, 10, 5 }, { 19, 46, 1 } };
static uint32_t stack_frames[] = { 0, 1, 0 };
static struct plim_trace_stack stacks[] = { { 0, 1 }, { 1, 2 }, { 0, 0 } };
static struct plim_memory_trace trace = {
    .stacks = stacks,
    .n_stacks = COUNT(stacks),
    .stack_frames = stack_frames,
    .n_stack_frames = COUNT(stack_frames),
    .frames = frames,
    .n_frames = COUNT(frames),
    .text = text,
    .text_bytes = sizeof text,
};

static struct plim_step_event events[] = {
    { WEIGHTS, 0, 0, PLIM_STEP_TAKE },
    { DATA, 0, 0, PLIM_STEP_TAKE },
    { WORKSPACE, 0, 0, PLIM_STEP_TAKE },
    { FIRST_ACTIVATION, 0, 0, PLIM_STEP_TAKE },
    { FIRST_GRADIENT, 0, 0, PLIM_STEP_TAKE },
    { FIRST_ACTIVATION, 0, 0, PLIM_STEP_GIVE },
    { STATE, 0, 0, PLIM_STEP_TAKE }, /* 6: the optimizer's first step */
    { FIRST_GRADIENT, 0, 0, PLIM_STEP_GIVE },
    { ACTIVATION, 0, 0, PLIM_STEP_TAKE }, /* 8: its second is here, without an event */
    { ACTIVATION, 0, 0, PLIM_STEP_GIVE }, /* held into the next turn, as the loss of a loop is */
    { LAST_ACTIVATION, 0, 0, PLIM_STEP_TAKE },
};
static struct plim_step_life lives[N] = {
    [WEIGHTS] = { AT_WEIGHTS, 0, COUNT(events), IN_LOOP },
    [DATA] = { 200, 1, COUNT(events), IN_LOOP },
    [WORKSPACE] = { 250, 2, COUNT(events), IN_MODEL },
    [FIRST_ACTIVATION] = { 500, 3, 5, IN_MODEL },
    [FIRST_GRADIENT] = { AT_GRADIENT, 4, 7, NO_STACK },
    [STATE] = { AT_STATE, 6, COUNT(events), IN_LOOP },
    [ACTIVATION] = { 600, 8, 9, IN_MODEL },
    [LAST_ACTIVATION] = { 700, 10, COUNT(events), IN_MODEL },
};
static uint64_t addresses[] = { AT_WEIGHTS, AT_GRADIENT, AT_STATE };
static struct plim_trace_mark marks[] = {
    { .kind = PLIM_TRACE_BEFORE_STEP, .weights = { 0, 1 }, .gradients = { 1, 1 } },
    { .kind = PLIM_TRACE_AFTER_STEP, .states = { 2, 1 } },
    { .kind = PLIM_TRACE_BEFORE_STEP, .step = 1 },
    { .kind = PLIM_TRACE_AFTER_STEP, .step = 1 },
    { .kind = PLIM_TRACE_END, .step = 2 },
};
static const size_t places[] = { 6, 7, 9, 9, COUNT(events) };
static const struct plim_trace_marks all_marks = { marks, COUNT(marks), addresses, COUNT(addresses), false };
static struct plim_step_term terms[] = { { 4096, { 0 } }, { 8519680, { 0 } } };
static struct plim_step_size sizes[] = { { .n_terms = 1, .denominator = 1 },
                                         { .first_term = 1, .n_terms = 1, .denominator = 1 } };

static void tell(struct plim_step_track *track)
{
    const struct plim_step_shape shape = {
        .sizes = sizes, .n_sizes = COUNT(sizes), .terms = terms, .n_terms = COUNT(terms)
    };
    struct plim_step_history history = {
        .track = track, .lives = lives, .places = places, .marks = &all_marks, .trace = &trace, .shape = &shape
    };
    *track = (struct plim_step_track){ .events = events, .n_events = COUNT(events), .n_allocations = N };
    track->allocations = plim_alloc(N, sizeof *track->allocations);
    assert_non_null(track->allocations);
    for (uint32_t id = 0; id < N; id++)
        track->allocations[id] =
            (struct plim_step_allocation){ id == WORKSPACE, PLIM_STEP_NO_SITE, PLIM_PILLAR_MAX_, PLIM_PHASE_MAX_ };
    assert_true(plim_step_tell_pillars(&history));
}

static void test_pillars(void **state)
{
    static const uint8_t expected[N] = {
        [WEIGHTS] = PLIM_PILLAR_WEIGHTS,
        [DATA] = PLIM_PILLAR_MAX_, /* through all steps, and nobody's */
        [WORKSPACE] = PLIM_PILLAR_ACTIVATIONS,
        [FIRST_ACTIVATION] = PLIM_PILLAR_ACTIVATIONS,
        [FIRST_GRADIENT] = PLIM_PILLAR_GRADIENTS,
        [STATE] = PLIM_PILLAR_OPTIMIZER,
        [ACTIVATION] = PLIM_PILLAR_ACTIVATIONS,
        [LAST_ACTIVATION] = PLIM_PILLAR_ACTIVATIONS, /* the recording is too short to tell more */
    };
    struct plim_step_track track;
    (void)state;
    tell(&track);
    for (uint32_t id = 0; id < N; id++)
        if (track.allocations[id].pillar != expected[id])
            fail_msg("allocation %u: pillar %u, expected %u", id, track.allocations[id].pillar, expected[id]);
    plim_free(track.allocations);
    plim_free(track.marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pillars) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

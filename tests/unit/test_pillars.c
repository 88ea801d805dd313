/* SPDX-License-Identifier: MIT */
/* What allocations are for, and when: a training of two steps by hand, with what lives longer than a step. */
#include "base/mem.h"
#include "trace/step/parts.h"
#include "unit.h"

enum { IN_LOOP, IN_MODEL, IN_HOOK, EVALUATES, CALLS_BACKWARD, NO_STACK }; /* stacks */
enum { WEIGHTS, DATA, WORKSPACE, FIRST_ACTIVATION, LOSS, FIRST_GRADIENT, STATE, WORK, ACTIVATION, EVALUATED, N };
enum { AT_WEIGHTS = 100, AT_GRADIENT = 300, AT_STATE = 400, LOSS_SITE = 7 };

static char text[] =
    "\0train.py\0<module>\0torch/nn/modules/module.py\0_call_impl\0torch/utils/_contextlib.py\0decorate_context\0"
    "torch/_tensor.py\0backward";
enum { LOOP, CALL, WITHOUT_GRAD, BACKWARD }; /* frames */
static struct plim_trace_frame frames[] = {
    [LOOP] = { 1, 10, 5 },
    [CALL] = { 19, 46, 1 },
    [WITHOUT_GRAD] = { 57, 84, 1 },
    [BACKWARD] = { 101, 118, 1 },
};
/* From the innermost on. */
static uint32_t stack_frames[] = {
    LOOP, CALL, LOOP, WITHOUT_GRAD, CALL, LOOP, CALL, WITHOUT_GRAD, LOOP, BACKWARD, LOOP
};
static struct plim_trace_stack stacks[] = {
    [IN_LOOP] = { 0, 1 },   [IN_MODEL] = { 1, 2 },       [IN_HOOK] = { 3, 3 },
    [EVALUATES] = { 6, 3 }, [CALLS_BACKWARD] = { 9, 2 }, [NO_STACK] = { 0, 0 },
};
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
    { LOSS, 0, 0, PLIM_STEP_TAKE },
    { FIRST_GRADIENT, 0, 0, PLIM_STEP_TAKE },
    { FIRST_ACTIVATION, 0, 0, PLIM_STEP_GIVE },
    { LOSS, 0, 0, PLIM_STEP_GIVE },
    { STATE, 0, 0, PLIM_STEP_TAKE }, /* 8: the optimizer's first step */
    { WORK, 0, 0, PLIM_STEP_TAKE },  /* as AdamW does with foreach */
    { WORK, 0, 0, PLIM_STEP_GIVE },
    { FIRST_GRADIENT, 0, 0, PLIM_STEP_GIVE },
    { ACTIVATION, 0, 0, PLIM_STEP_TAKE },
    { EVALUATED, 0, 0, PLIM_STEP_TAKE },  /* 13: behind the second step, which took nothing */
    { ACTIVATION, 0, 0, PLIM_STEP_GIVE }, /* held into the next turn, as the output of a loop is */
};
static struct plim_step_life lives[N] = {
    [WEIGHTS] = { AT_WEIGHTS, 0, COUNT(events), IN_LOOP },
    [DATA] = { 200, 1, COUNT(events), IN_LOOP },
    [WORKSPACE] = { 250, 2, COUNT(events), IN_HOOK },
    [FIRST_ACTIVATION] = { 500, 3, 6, IN_MODEL },
    [LOSS] = { 550, 4, 7, CALLS_BACKWARD },
    [FIRST_GRADIENT] = { AT_GRADIENT, 5, 11, NO_STACK },
    [STATE] = { AT_STATE, 8, COUNT(events), IN_LOOP },
    [WORK] = { 450, 9, 10, IN_LOOP },
    [ACTIVATION] = { 600, 12, 14, IN_MODEL },
    [EVALUATED] = { 700, 13, COUNT(events), EVALUATES },
};
static uint64_t addresses[] = { AT_WEIGHTS, AT_GRADIENT, AT_STATE };
static struct plim_trace_mark marks[] = {
    { .kind = PLIM_TRACE_BEFORE_STEP, .weights = { 0, 1 }, .gradients = { 1, 1 } },
    { .kind = PLIM_TRACE_AFTER_STEP, .states = { 2, 1 } },
    { .kind = PLIM_TRACE_BEFORE_STEP, .step = 1 },
    { .kind = PLIM_TRACE_AFTER_STEP, .step = 1 },
    { .kind = PLIM_TRACE_END, .step = 2 },
};
static const size_t places[] = { 8, 11, 13, 13, COUNT(events) };
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
            (struct plim_step_allocation){ id == WORKSPACE, id == LOSS ? LOSS_SITE : PLIM_STEP_NO_SITE,
                                           PLIM_PILLAR_MAX_, PLIM_PHASE_MAX_ };
    assert_true(plim_step_tell_pillars(&history));
}

static void test_told(void **state)
{
    static const struct {
        uint8_t pillar, phase;
    } expected[N] = {
        [WEIGHTS] = { PLIM_PILLAR_WEIGHTS, PLIM_PHASE_LOAD },
        [DATA] = { PLIM_PILLAR_MAX_, PLIM_PHASE_FORWARD },             /* held through all steps, and nobody's */
        [WORKSPACE] = { PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD }, /* by a hook that records no gradients */
        [FIRST_ACTIVATION] = { PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD },
        [LOSS] = { PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_BACKWARD },
        [FIRST_GRADIENT] = { PLIM_PILLAR_GRADIENTS, PLIM_PHASE_BACKWARD },
        [STATE] = { PLIM_PILLAR_OPTIMIZER, PLIM_PHASE_STEP },
        [WORK] = { PLIM_PILLAR_OVERHEAD, PLIM_PHASE_STEP },
        [ACTIVATION] = { PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_FORWARD },
        [EVALUATED] = { PLIM_PILLAR_ACTIVATIONS, PLIM_PHASE_EVALUATE }, /* too short a recording to tell more */
    };
    struct plim_step_track track;
    (void)state;
    tell(&track);
    for (uint32_t id = 0; id < N; id++) {
        const struct plim_step_allocation *told = &track.allocations[id];
        if (told->pillar != expected[id].pillar || told->phase != expected[id].phase)
            fail_msg("allocation %u: pillar %u in phase %u, expected %u in %u", id, told->pillar, told->phase,
                     expected[id].pillar, expected[id].phase);
        const bool has_line = id == LOSS || id == FIRST_GRADIENT; /* that of the line which waits for it */
        assert_int_equal(told->site, has_line ? LOSS_SITE : PLIM_STEP_NO_SITE);
    }
    plim_free(track.allocations);
    plim_free(track.marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

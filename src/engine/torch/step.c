/* SPDX-License-Identifier: MIT */
#include "engine/torch/step.h"

#include "step/unroll.h"

int plim_torch_run_make(const struct plim_torch_tape *tape, const struct plim_torch_conditions *conditions,
                        struct plim_torch_run *ret_run, struct plim_error *reterr)
{
    struct plim_torch_run run = { .oom_bytes = 0 };
    int result = plim_torch_tape_replay(tape, conditions, &run.result, reterr);
    if (result < 0)
        return result;
    const size_t oom_at = run.result.n_ooms ? run.result.oom_at : SIZE_MAX;
    result = plim_torch_moment_at(tape, run.result.reserved_peak_at, oom_at, &run.binding, reterr);
    if (result == 0)
        result = plim_torch_moment_at(tape, run.result.allocated_peak_at, oom_at, &run.fullest, reterr);
    if (result == 0 && run.result.n_ooms) {
        run.oom_bytes = tape->events[oom_at].bytes;
        result = plim_torch_moment_at(tape, oom_at, oom_at, &run.oom, reterr);
    }
    if (result == 0)
        *ret_run = run;
    return result;
}

/* Is the track of `result` shorter of memory? */
static bool is_worse(const struct plim_torch_result *result, const struct plim_torch_result *than)
{
    if (result->n_ooms != than->n_ooms)
        return result->n_ooms > than->n_ooms;
    return result->reserved_peak_bytes > than->reserved_peak_bytes;
}

/* A replay of one track, with its moments when it is the worst so far. */
static int add_track(const struct plim_step *step, const struct plim_step_shape *shape,
                     const struct plim_step_point *point, size_t track, const struct plim_torch_conditions *conditions,
                     struct plim_torch_evaluation *evaluation, struct plim_error *reterr)
{
    struct plim_torch_tape tape;
    struct plim_torch_run run = { 0 };
    int result = plim_torch_tape_make(step, shape, &shape->tracks[track], point, &tape, reterr);
    if (result < 0)
        return result;
    result = plim_torch_run_make(&tape, conditions, &run, reterr);
    plim_torch_tape_done(&tape);
    if (result < 0)
        return result;
    const struct plim_torch_result *r = &run.result;
    if (r->allocated_peak_bytes > evaluation->allocated_peak_bytes)
        evaluation->allocated_peak_bytes = r->allocated_peak_bytes;
    if (r->reserved_peak_bytes > evaluation->reserved_peak_bytes)
        evaluation->reserved_peak_bytes = r->reserved_peak_bytes;
    if (track == 0 || is_worse(r, &evaluation->run.result)) {
        evaluation->track = track;
        evaluation->run = run;
    }
    return 0;
}

int plim_torch_step_evaluate(const struct plim_step *step, const struct plim_step_point *point,
                             const struct plim_torch_conditions *conditions,
                             struct plim_torch_evaluation *ret_evaluation, struct plim_error *reterr)
{
    struct plim_torch_evaluation evaluation = { .track = 0 };
    struct plim_step_shape *own = NULL;
    int result = plim_step_choose(step, point, &evaluation.choice, reterr);
    if (result == 0)
        result = plim_step_unroll(evaluation.choice.shape, point, &own, reterr);
    if (result < 0)
        return result;
    const struct plim_step_shape *shape = plim_step_unrolled(evaluation.choice.shape, own);
    for (size_t i = 0; result == 0 && i < shape->n_tracks; i++)
        result = add_track(step, shape, point, i, conditions, &evaluation, reterr);
    plim_step_unrolled_free(own);
    if (result == 0)
        *ret_evaluation = evaluation;
    return result;
}

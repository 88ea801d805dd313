/* SPDX-License-Identifier: MIT */
#include "rehearse/vary/left_out.h"

#include "base/mem.h"
#include "engine/torch/tape.h"
#include "step/unroll.h"

#include <math.h>
#include <string.h>

static int peaks_of(const struct plim_step *step, const struct plim_step_shape *shape, size_t track,
                    const struct plim_step_point *point, struct plim_step_peaks *ret_peaks, struct plim_error *reterr)
{
    struct plim_torch_tape tape;
    struct plim_torch_result result = { 0 };
    struct plim_torch_conditions conditions = { .capacity_bytes = UINT64_MAX, .card_bytes = step->card_bytes };
    plim_torch_settings_init(&conditions.settings);
    int status = plim_torch_settings_parse(&conditions.settings, step->alloc_conf, reterr);
    if (status == 0)
        status = plim_torch_tape_make(step, shape, &shape->tracks[track], point, &tape, reterr);
    if (status < 0)
        return status;
    status = plim_torch_tape_replay(&tape, &conditions, &result, reterr);
    plim_torch_tape_done(&tape);
    *ret_peaks = (struct plim_step_peaks){ result.allocated_peak_bytes, result.reserved_peak_bytes };
    return status;
}

static void widen(double *error, uint64_t found, uint64_t expected)
{
    const double own = fabs((double)found - (double)expected) / (expected ? (double)expected : 1);
    if (own > *error)
        *error = own;
}

/* One recording beside a shape of a step. */
static int measure(const struct plim_step *step, const struct plim_step_shape *shape,
                   const struct plim_step_recording *recording, double *allocated, double *reserved,
                   struct plim_error *reterr)
{
    const struct plim_step_shape *own = &recording->step.shapes[0];
    struct plim_step_shape *turned = NULL;
    int result = plim_step_unroll(shape, &recording->point, &turned, reterr);
    shape = plim_step_unrolled(shape, turned);
    for (size_t i = 0; result == 0 && i < own->n_tracks; i++) {
        struct plim_step_peaks found, expected = { PLIM_STEP_UNKNOWN_BYTES, PLIM_STEP_UNKNOWN_BYTES };
        result = peaks_of(step, shape, i, &recording->point, &found, reterr);
        if (own->tracks[i].recorded)
            expected = own->tracks[i].recorded[0];
        if (result == 0 && expected.reserved_bytes == PLIM_STEP_UNKNOWN_BYTES)
            result = peaks_of(&recording->step, own, i, &own->points[0], &expected, reterr);
        if (result < 0)
            break;
        widen(allocated, found.allocated_bytes, expected.allocated_bytes);
        widen(reserved, found.reserved_bytes, expected.reserved_bytes);
    }
    plim_step_unrolled_free(turned);
    return result;
}

/* Of recordings of this shape: the one that is farthest from the first, by the sum of logarithms; NULL: too few. */
static struct plim_step_recording *farthest(const struct plim_step_fit *fit, size_t shape)
{
    const struct plim_step_recording *first = NULL;
    struct plim_step_recording *far = NULL;
    double distance = 0;
    size_t n = 0;
    for (size_t i = 0; i < fit->n_recordings; i++) {
        struct plim_step_recording *own = &fit->recordings[i];
        double sum = 0;
        if (own->shape != shape)
            continue;
        n++;
        first = first ? first : own;
        for (uint32_t k = 0; k < fit->n_variables; k++)
            sum += fabs(log((double)(own->point.value[k] + 1)) - log((double)(first->point.value[k] + 1)));
        if (sum > distance) {
            distance = sum;
            far = own;
        }
    }
    return n > 2 ? far : NULL;
}

/* A fit of one shape alone, without the recording that is farthest out. */
static int measure_again(const struct plim_step_fit *fit, size_t shape, double *allocated, double *reserved,
                         struct plim_error *reterr)
{
    struct plim_step_recording *far = farthest(fit, shape);
    struct plim_step_fit part = *fit;
    struct plim_step step;
    if (!far)
        return 0;
    part.n_recordings = 0;
    part.recordings = plim_alloc(fit->n_recordings, sizeof *part.recordings);
    if (!part.recordings)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < fit->n_recordings; i++)
        if (fit->recordings[i].shape == shape && &fit->recordings[i] != far)
            part.recordings[part.n_recordings++] = fit->recordings[i];
    int result = plim_step_fit(&part, &step, reterr);
    plim_free(part.recordings);
    if (result < 0)
        return result;
    result = measure(&step, &step.shapes[0], far, allocated, reserved, reterr);
    plim_step_done(&step);
    return result;
}

int plim_vary_left_out(struct plim_step_fit *fit, struct plim_step *step, struct plim_error *reterr)
{
    for (size_t shape = 0; shape < step->n_shapes; shape++) {
        double allocated = -1, reserved = -1;
        size_t n_own = 0, n_left = 0;
        for (size_t i = 0; i < fit->n_recordings; i++) {
            n_own += fit->recordings[i].shape == shape;
            n_left += fit->recordings[i].shape == shape && fit->recordings[i].is_left_out;
        }
        int result = 0;
        for (size_t i = 0; result == 0 && n_left < n_own && i < fit->n_recordings; i++)
            if (fit->recordings[i].shape == shape && fit->recordings[i].is_left_out)
                result = measure(step, &step->shapes[shape], &fit->recordings[i], &allocated, &reserved, reterr);
        if (result == 0 && (n_left == 0 || n_left == n_own))
            result = measure_again(fit, shape, &allocated, &reserved, reterr);
        if (result < 0)
            return result;
        step->shapes[shape].left_out_allocated_error = allocated;
        step->shapes[shape].left_out_reserved_error = reserved;
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Random numbers that fill a tensor (ATen/native/cuda/DistributionTemplates.h; PyTorch 2.5 to 2.15):
 *   distribution_elementwise_grid_stride_kernel<acc, numbers of a draw, draw, write>(n, PhiloxCudaState, draw, write)
 * Thread t draws from stream t; its draw number r gives the elements t + threads * (numbers * r + k). `write` is a
 * lambda; it captures, for a tensor of one stride, the pointer, the stride as int, and the transformation; for others
 * an OffsetCalculator<1>, the pointer, and the transformation. Of what a card computes with functions that are not
 * accurate everywhere (geometric, Cauchy) only the place is known, and a valid value.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/random/philox.h"

#include <math.h>
#include <stdlib.h>

enum kind { UNIFORM, BERNOULLI, NORMAL, LOG_NORMAL, EXPONENTIAL, RANGE, FULL_RANGE, RANDOM, ONE, ZERO };

struct distribution {
    enum kind kind;
    enum plim_element element;
    unsigned n_numbers;   /* of a draw: 4, or 2 of 64 bits */
    bool has_offsets;     /* an OffsetCalculator */
    unsigned count_bytes; /* of the first parameter */
};

static bool read_kind(struct plim_text draw, enum kind *ret_kind)
{
    static const struct {
        const char *name;
        enum kind kind;
    } names[] = {
        { "::random_from_to_kernel<", RANGE }, { "::random_full_64_bits_range_kernel<", FULL_RANGE },
        { "::random_kernel<", RANDOM },        { "::bernoulli_kernel<", BERNOULLI },
        { "::uniform_kernel<", UNIFORM },      { "::exponential_kernel<", EXPONENTIAL },
        { "::geometric_kernel<", ONE },        { "::log_normal_kernel<", LOG_NORMAL },
        { "::normal_kernel<", NORMAL },        { "::cauchy_kernel<", ZERO },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (plim_text_has(draw, names[i].name)) {
            *ret_kind = names[i].kind;
            return true;
        }
    return false;
}

/* The last lambda of a type is the type: "...::{lambda(int, float)#2}". */
static unsigned lambda_number(struct plim_text type)
{
    return type.size > 3 && type.start[type.size - 1] == '}' && type.start[type.size - 3] == '#'
               ? (unsigned)(type.start[type.size - 2] - '0')
               : 0;
}

static void *parse(struct plim_text name)
{
    static const char kernel[] = "distribution_elementwise_grid_stride_kernel";
    struct plim_text arguments, number, draw, write, count;
    struct distribution *distribution = calloc(1, sizeof *distribution);
    if (distribution && plim_name_template(name, kernel, &arguments) && plim_name_argument(arguments, 1, &number) &&
        plim_name_argument(arguments, 2, &draw) && plim_name_argument(arguments, 3, &write) &&
        plim_name_argument(plim_name_parameters(name), 0, &count) && read_kind(draw, &distribution->kind)) {
        const unsigned lambda = lambda_number(write);
        distribution->element = plim_name_template_element(write, "distribution_nullary_kernel", 0);
        distribution->n_numbers = plim_text_is(number, "4") ? 4 : plim_text_is(number, "2") ? 2 : 0;
        distribution->count_bytes = plim_element_bytes(plim_name_element(count));
        distribution->has_offsets = lambda == 2;
        if (distribution->element && distribution->n_numbers && (lambda == 1 || lambda == 2) &&
            (distribution->count_bytes == 4 || distribution->count_bytes == 8))
            return distribution;
    }
    free(distribution);
    return NULL;
}

/* --- the lambda that writes --- */

struct target {
    struct plim_view view;
    const char *transform; /* what is captured by the transformation begins somewhere behind */
    unsigned held_at;      /* bytes before it in the lambda, for alignment */
};

static const char *held(const struct target *target, unsigned alignment)
{
    const unsigned at = (target->held_at + alignment - 1) / alignment * alignment;
    return target->transform + at;
}

static bool read_target(const struct distribution *distribution, const char *lambda, uint64_t n,
                        struct target *ret_target)
{
    enum { MAX_DIMENSIONS = 25, DIVIDERS_AT = 4, DIVIDER_BYTES = 12, STRIDES_AT = 304, POINTER_AT = 408 };
    struct plim_view *view = &ret_target->view;
    const unsigned pointer_at = distribution->has_offsets ? POINTER_AT : 0;
    int32_t stride, n_dimensions = 1;
    *view = plim_view_flat(NULL, distribution->element, n);
    memcpy(&view->address, lambda + pointer_at, sizeof view->address);
    ret_target->transform = lambda;
    ret_target->held_at = pointer_at + (distribution->has_offsets ? 8 : 12);
    if (!distribution->has_offsets) {
        memcpy(&stride, lambda + sizeof view->address, sizeof stride);
        view->stride_bytes[0] = stride;
    } else {
        memcpy(&n_dimensions, lambda, sizeof n_dimensions);
        if (n_dimensions < 0 || n_dimensions > MAX_DIMENSIONS)
            return false;
        view->n_dimensions = (unsigned)n_dimensions;
        for (int32_t i = 0; i < n_dimensions; i++) {
            uint32_t size, step;
            memcpy(&size, lambda + DIVIDERS_AT + i * DIVIDER_BYTES, sizeof size);
            memcpy(&step, lambda + STRIDES_AT + i * (int32_t)sizeof step, sizeof step);
            view->size[i] = size;
            view->stride_bytes[i] = step;
        }
    }
    return plim_view_is_memory((void *)(uintptr_t)view->address) && plim_view_n(view) == n;
}

/* --- transformations --- */

/* What the lambda holds, and what it makes of the numbers of a draw. */
struct transform {
    union plim_scalar held[3];
};

static double load_float(enum plim_element element, const char *from) { return plim_element_load(element, from).f; }

/* range, in the type of the arithmetic; from and to, in that of the tensor */
static void read_uniform(const struct distribution *distribution, const struct target *target,
                         struct transform *transform)
{
    const bool is_double = distribution->element == PLIM_ELEMENT_F64;
    const enum plim_element arithmetic = is_double ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_F32;
    const unsigned width = plim_element_bytes(distribution->element);
    const char *from = held(target, plim_element_bytes(arithmetic));
    transform->held[0].f = load_float(arithmetic, from);
    from += plim_element_bytes(arithmetic);
    transform->held[1].f = load_float(distribution->element, from);
    transform->held[2].f = load_float(distribution->element, from + width);
}

/* mean and deviation, or lambda, in the type of the arithmetic */
static void read_normal(const struct distribution *distribution, const struct target *target,
                        struct transform *transform)
{
    const bool is_double = distribution->element == PLIM_ELEMENT_F64;
    const enum plim_element arithmetic = is_double ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_F32;
    const char *from = held(target, plim_element_bytes(arithmetic));
    transform->held[0].f = load_float(arithmetic, from);
    transform->held[1].f = load_float(arithmetic, from + plim_element_bytes(arithmetic));
}

static void read_held(const struct distribution *distribution, const struct target *target, struct transform *transform)
{
    if (distribution->kind == UNIFORM) {
        read_uniform(distribution, target, transform);
    } else if (distribution->kind == NORMAL || distribution->kind == LOG_NORMAL || distribution->kind == EXPONENTIAL) {
        read_normal(distribution, target, transform);
    } else if (distribution->kind == BERNOULLI) {
        const double p = load_float(PLIM_ELEMENT_F64, held(target, 8));
        transform->held[0].f = distribution->element == PLIM_ELEMENT_F64 ? p : (float)p;
    } else if (distribution->kind == RANGE) {
        memcpy(transform->held, held(target, 8), 2 * sizeof *transform->held); /* range and base */
    }
}

static union plim_scalar uniform(const struct distribution *distribution, const struct transform *transform,
                                 double number)
{
    union plim_scalar value;
    uint8_t bytes[8];
    value.f = distribution->element == PLIM_ELEMENT_F64
                  ? fma(number, transform->held[0].f, transform->held[1].f)
                  : fmaf((float)number, (float)transform->held[0].f, (float)transform->held[1].f);
    plim_element_store(distribution->element, bytes, value); /* rounded before it is compared */
    value = plim_element_load(distribution->element, bytes);
    return value.f == transform->held[2].f ? transform->held[1] : value;
}

/* uniform_int of ATen/core/TransformationHelper.h: below the largest whole number that the type has exactly. */
static uint64_t below_largest(enum plim_element element, uint64_t number)
{
    switch (element) {
    case PLIM_ELEMENT_BOOL:
        return number & 1;
    case PLIM_ELEMENT_U8:
        return number % (UINT8_MAX + 1ull);
    case PLIM_ELEMENT_I8:
        return number % (INT8_MAX + 1ull);
    case PLIM_ELEMENT_I16:
        return number % (INT16_MAX + 1ull);
    case PLIM_ELEMENT_I32:
        return number % (INT32_MAX + 1ull);
    case PLIM_ELEMENT_I64:
        return number % (INT64_MAX + 1ull);
    case PLIM_ELEMENT_F16:
        return number % ((1ull << 11) + 1);
    case PLIM_ELEMENT_BF16:
        return number % ((1ull << 8) + 1);
    case PLIM_ELEMENT_F32:
        return number % ((1ull << 24) + 1);
    default:
        return number % ((1ull << 53) + 1);
    }
}

static union plim_scalar whole(const struct distribution *distribution, const struct transform *transform,
                               uint64_t number)
{
    union plim_scalar value, range = transform->held[0];
    if (distribution->kind == RANDOM)
        value.i = (int64_t)below_largest(distribution->element, number);
    else if (distribution->kind == FULL_RANGE)
        value.i = (int64_t)number;
    else
        value.i = (int64_t)((range.i ? number % (uint64_t)range.i : 0) + (uint64_t)transform->held[1].i);
    return plim_element_convert(distribution->element, PLIM_ELEMENT_I64, value);
}

static union plim_scalar normal(const struct distribution *distribution, const struct transform *transform,
                                const uint32_t draw[4], unsigned k)
{
    union plim_scalar value;
    double normals[4];
    if (distribution->n_numbers == 2)
        plim_philox_normal_double(draw, normals);
    else
        plim_philox_normal(draw, normals);
    value.f = normals[k] * transform->held[1].f + transform->held[0].f;
    if (distribution->kind == LOG_NORMAL)
        value.f = exp(value.f);
    return value;
}

/* exponential() of ATen/core/TransformationHelper.h: a logarithm of 1, or nearly, is half the rounding error of 1. */
static union plim_scalar exponential(const struct distribution *distribution, const struct transform *transform,
                                     double number)
{
    const double half = distribution->element == PLIM_ELEMENT_F64 ? 0x1p-53 : 0x1p-24;
    union plim_scalar value;
    value.f = -1 / transform->held[0].f * (number >= 1 - half ? -half : log(number));
    return value;
}

/*
 * The fast logarithm of float is wrong by up to 2^-21 near 1: only where that is less than 1e-5 of the result is it
 * known. What is drawn by the smallest of many exponentials, a token, stays a guess.
 */
static enum plim_shadow_known certainty_of(const struct distribution *distribution, union plim_scalar value,
                                           const struct transform *transform)
{
    return distribution->kind == EXPONENTIAL && distribution->element != PLIM_ELEMENT_F64 &&
                   value.f * transform->held[0].f < 0.05
               ? PLIM_SHADOW_UNKNOWN
               : PLIM_SHADOW_KNOWN;
}

/* Number k of a draw. */
static union plim_scalar value_of(const struct distribution *distribution, const struct transform *transform,
                                  const uint32_t draw[4], unsigned k)
{
    const bool is_wide = distribution->n_numbers == 2;
    union plim_scalar value;
    if (distribution->kind == NORMAL || distribution->kind == LOG_NORMAL)
        return normal(distribution, transform, draw, k);
    if (distribution->kind >= RANGE)
        return whole(distribution, transform,
                     is_wide ? (uint64_t)draw[2 * k] << 32 | draw[2 * k + 1] : (uint64_t)draw[k]);
    const double number =
        is_wide ? plim_philox_uniform_double(draw[2 * k], draw[2 * k + 1]) : (double)plim_philox_uniform(draw[k]);
    if (distribution->kind == UNIFORM)
        return uniform(distribution, transform, number);
    if (distribution->kind == EXPONENTIAL)
        return exponential(distribution, transform, number);
    value.i = number < transform->held[0].f;
    return plim_element_convert(distribution->element, PLIM_ELEMENT_I64, value);
}

/* --- a launch --- */

static void fill(const struct distribution *distribution, const struct plim_philox *philox,
                 const struct transform *transform, uint64_t n_threads, struct plim_array *out)
{
    uint32_t draw[4];
    for (uint64_t thread = 0; thread < n_threads && thread < out->n; thread++)
        for (uint64_t first = thread, call = 0; first < out->n; first += n_threads * distribution->n_numbers, call++) {
            plim_philox_four(philox, thread, 4 * call, draw);
            for (unsigned k = 0; k < distribution->n_numbers && first + k * n_threads < out->n; k++) {
                const union plim_scalar value = value_of(distribution, transform, draw, k);
                out->number[first + k * n_threads] = value;
                if (out->each)
                    out->each[first + k * n_threads] =
                        (uint8_t)plim_less_known(philox->known, certainty_of(distribution, value, transform));
            }
        }
    out->known = philox->known;
}

/* Exponentials of a whole vocabulary, for each token, would only be divided into guesses. */
static uint64_t most_numbers(const struct distribution *distribution)
{
    enum { MAX_EXPONENTIALS = 1 << 12 };
    return distribution->kind == EXPONENTIAL ? (uint64_t)MAX_EXPONENTIALS : (uint64_t)PLIM_PHILOX_MAX_NUMBERS;
}

static void guess(const struct distribution *distribution, const struct plim_view *view, uint64_t n)
{
    struct plim_array one;
    if ((distribution->kind != ONE && distribution->kind != EXPONENTIAL) ||
        !plim_array_make(&one, PLIM_ELEMENT_I64, n, true)) {
        plim_view_forget(view);
        return;
    }
    one.one.i = 1;
    one.known = PLIM_SHADOW_UNKNOWN;
    plim_view_write(view, &one);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct distribution *distribution = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 0, distribution->count_bytes);
    const struct plim_philox philox = plim_philox_of(p[1]);
    struct transform transform = { .held[0].i = 0 };
    struct target target;
    struct plim_array out;
    if (!read_target(distribution, p[3], n, &target))
        return;
    if (distribution->kind >= ONE || n > most_numbers(distribution) ||
        !plim_array_make(&out, distribution->element, n, false)) {
        guess(distribution, &target.view, n);
        return;
    }
    read_held(distribution, &target, &transform);
    if (distribution->kind == EXPONENTIAL && !plim_array_make_each(&out)) {
        plim_array_free(&out);
        guess(distribution, &target.view, n);
        return;
    }
    fill(distribution, &philox, &transform, (uint64_t)launch->grid[0] * launch->block[0], &out);
    plim_view_write(&target.view, &out);
    plim_array_free(&out);
}

const struct plim_kernel_form plim_form_distribution = { "distribution_elementwise_grid_stride_kernel", parse, run };

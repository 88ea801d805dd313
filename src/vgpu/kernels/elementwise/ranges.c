/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * elementwise_kernel_with_index<index, lambda>(index N, lambda, result *data) of RangeFactories.cu: arange, range,
 * linspace and logspace. The type of the result is not in the name, but the branch of the dispatch is, {lambda()#2}.
 */

enum kind { ARANGE, LINSPACE, LOGSPACE };

struct range {
    enum kind kind;
    enum plim_element element, computed; /* in memory; of the start and the step */
    bool has_long_index;
};

/* The number of the number-th {lambda()#...} in the name; 0: there is none. */
static unsigned branch_of(struct plim_text name, unsigned number)
{
    struct plim_text rest = name;
    for (unsigned i = 0; i <= number; i++)
        rest = plim_text_after(rest, "{lambda()#");
    return rest.size && rest.start[0] >= '1' && rest.start[0] <= '9' ? (unsigned)(rest.start[0] - '0') : 0;
}

/* AT_DISPATCH_ALL_TYPES_AND2(Half, BFloat16), in this order (ATen/Dispatch.h). */
static enum plim_element all_types(unsigned branch)
{
    static const enum plim_element types[] = { PLIM_ELEMENT_NONE, PLIM_ELEMENT_U8,  PLIM_ELEMENT_I8,  PLIM_ELEMENT_I32,
                                               PLIM_ELEMENT_I64,  PLIM_ELEMENT_I16, PLIM_ELEMENT_F64, PLIM_ELEMENT_F32,
                                               PLIM_ELEMENT_F16,  PLIM_ELEMENT_BF16 };
    return branch < sizeof types / sizeof *types ? types[branch] : PLIM_ELEMENT_NONE;
}

/* AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(Half, BFloat16). */
static enum plim_element floating_types(unsigned branch)
{
    static const enum plim_element types[] = { PLIM_ELEMENT_NONE, PLIM_ELEMENT_F64, PLIM_ELEMENT_F32, PLIM_ELEMENT_NONE,
                                               PLIM_ELEMENT_NONE, PLIM_ELEMENT_F16, PLIM_ELEMENT_BF16 };
    return branch < sizeof types / sizeof *types ? types[branch] : PLIM_ELEMENT_NONE;
}

static void *parse(struct plim_text name)
{
    struct plim_text arguments, index, lambda;
    struct range range = { .kind = ARANGE };
    if (!plim_name_template(name, "elementwise_kernel_with_index", &arguments) ||
        !plim_name_argument(arguments, 0, &index) || !plim_name_argument(arguments, 1, &lambda))
        return NULL;
    range.has_long_index = plim_text_is(index, "long");
    if (plim_text_has(lambda, "arange_cuda_out") || plim_text_has(lambda, "range_cuda_out")) {
        range.element = all_types(branch_of(lambda, 1));
        range.computed = range.element == PLIM_ELEMENT_F64      ? PLIM_ELEMENT_F64
                         : plim_element_is_float(range.element) ? PLIM_ELEMENT_F32
                                                                : PLIM_ELEMENT_I64;
    } else if (plim_text_has(lambda, "linspace_cuda_out") || plim_text_has(lambda, "logspace_cuda_out")) {
        range.kind = plim_text_has(lambda, "linspace_cuda_out") ? LINSPACE : LOGSPACE;
        range.element =
            branch_of(lambda, 0) == 1 ? all_types(branch_of(lambda, 1)) : floating_types(branch_of(lambda, 1));
        range.computed = range.element;
    }
    struct range *kept = range.element ? malloc(sizeof *kept) : NULL;
    if (kept)
        *kept = range;
    return kept;
}

/* --- what the lambdas capture --- */

struct steps {
    union plim_scalar start, end, step;
    enum plim_element step_type;
    double base;
    int64_t n, half;
};

static unsigned aligned(unsigned offset, unsigned to) { return (offset + to - 1) / to * to; }

static union plim_scalar next(const uint8_t *lambda, unsigned *offset, enum plim_element element)
{
    const unsigned bytes = plim_element_bytes(element);
    *offset = aligned(*offset, bytes);
    const union plim_scalar number = plim_element_load(element, lambda + *offset);
    *offset += bytes;
    return number;
}

/*
 * arange and range: start, step. linspace: start, end, steps, step, half of steps; logspace has its base as a float of
 * the step's type behind the end. Integers have a step of float.
 */
static void read_steps(const struct range *range, const uint8_t *lambda, struct steps *ret)
{
    unsigned offset = 0;
    ret->start = next(lambda, &offset, range->computed);
    ret->step_type = range->computed;
    if (range->kind == ARANGE) {
        ret->step = next(lambda, &offset, range->computed);
        return;
    }
    ret->end = next(lambda, &offset, range->computed);
    ret->step_type = plim_element_is_float(range->computed) ? range->computed : PLIM_ELEMENT_F32;
    if (range->kind == LOGSPACE)
        ret->base = next(lambda, &offset, ret->step_type).f;
    ret->n = next(lambda, &offset, PLIM_ELEMENT_I64).i;
    ret->step = next(lambda, &offset, ret->step_type);
    ret->half = next(lambda, &offset, PLIM_ELEMENT_I64).i;
}

static union plim_scalar arange_at(const struct range *range, const struct steps *steps, int64_t i)
{
    union plim_scalar value;
    if (plim_element_is_float(range->computed))
        value.f = steps->start.f + steps->step.f * (double)i;
    else
        value.i = (int64_t)((uint64_t)steps->start.i + (uint64_t)steps->step.i * (uint64_t)i);
    return plim_element_convert(range->element, range->computed, value);
}

/* From the nearer end, so that the last is exactly the end. */
static union plim_scalar spaced_at(const struct range *range, const struct steps *steps, int64_t i)
{
    const double start = plim_element_as_double(range->computed, steps->start);
    const double end = plim_element_as_double(range->computed, steps->end);
    union plim_scalar value = { .f = i < steps->half ? start + steps->step.f * (double)i
                                                     : end - steps->step.f * (double)(steps->n - i - 1) };
    if (range->kind == LOGSPACE)
        value.f = pow(steps->base, value.f);
    return plim_element_convert(range->element, PLIM_ELEMENT_F64, value);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct range *range = parsed;
    struct plim_array array;
    struct steps steps = { .n = 0 };
    int32_t short_n;
    int64_t n;
    const void *data;
    memcpy(&short_n, launch->parameters[0], sizeof short_n);
    memcpy(&n, launch->parameters[0], range->has_long_index ? sizeof n : sizeof short_n);
    memcpy(&data, launch->parameters[2], sizeof data);
    n = range->has_long_index ? n : short_n;
    const struct plim_view tensor = plim_view_flat(data, range->element, n > 0 ? (uint64_t)n : 0);
    if (!plim_array_make(&array, range->element, n > 0 ? (uint64_t)n : 0, false)) {
        plim_view_forget(&tensor);
        return;
    }
    read_steps(range, launch->parameters[1], &steps);
    for (int64_t i = 0; i < n; i++)
        array.number[i] = range->kind == ARANGE ? arange_at(range, &steps, i) : spaced_at(range, &steps, i);
    plim_view_write(&tensor, &array);
    plim_array_free(&array);
}

const struct plim_kernel_form plim_form_indexed = { "(anonymous namespace)::elementwise_kernel_with_index", parse,
                                                    run };

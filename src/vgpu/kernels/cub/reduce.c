/* SPDX-License-Identifier: MIT */
/*
 * Reductions by CUB: nonzero's count, unique's count of flags, segment_reduce.
 *   DeviceReduceSingleTileKernel(in, out, n, functor, first value[, functor for each element])
 *   DeviceReduceKernel(in, results of blocks, n, GridEvenShare, functor[, ...]): a single tile follows
 *   DeviceSegmentedReduceKernel(in, out, starts, ends[, number of segments], functor, first value)
 * CCCL 2.3, 2.7 and 3.3 (cub/device/dispatch/dispatch_reduce.cuh, in 3.x kernels/kernel_reduce.cuh).
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/cub/operator.h"
#include "vgpu/kernels/forms.h"
#include "vgpu/values/policy.h"

#include <stdlib.h>

struct reduction {
    struct plim_iterator in, out, starts, ends;
    struct plim_text n_type;
    enum plim_operator operation;
    bool is_count; /* of flags: unknown ones count by the policy */
    bool is_segmented;
    enum plim_element first_type; /* NONE: no first value */
    unsigned first_at;
};

static bool read_signature(struct plim_text parameters, struct reduction *reduction, unsigned functor_at)
{
    struct plim_text type;
    if (!plim_name_argument(parameters, 0, &type) || !plim_iterator_of(type, &reduction->in) ||
        !plim_name_argument(parameters, 1, &type) || !plim_iterator_of(type, &reduction->out) ||
        reduction->out.element == PLIM_ELEMENT_NONE || reduction->in.element == PLIM_ELEMENT_NONE ||
        !plim_name_argument(parameters, functor_at, &type))
        return false;
    reduction->operation = plim_operator_of(type);
    reduction->is_count = reduction->in.is_flag && reduction->operation == PLIM_OPERATOR_SUM;
    reduction->first_at = functor_at + 1;
    if (plim_name_argument(parameters, functor_at + 1, &type))
        reduction->first_type = plim_name_element(type);
    return reduction->operation != PLIM_OPERATOR_NONE;
}

static void *parse(struct plim_text name, unsigned functor_at)
{
    struct reduction *reduction = calloc(1, sizeof *reduction);
    const struct plim_text parameters = plim_name_parameters(name);
    if (reduction && read_signature(parameters, reduction, functor_at) &&
        plim_name_argument(parameters, 2, &reduction->n_type))
        return reduction;
    free(reduction);
    return NULL;
}

static void *parse_tile(struct plim_text name)
{
    struct reduction *reduction = parse(name, 3);
    if (reduction && reduction->first_type == PLIM_ELEMENT_NONE) {
        free(reduction);
        return NULL;
    }
    return reduction;
}

static void *parse_blocks(struct plim_text name) { return parse(name, 4); }

/* --- all elements to one --- */

struct result {
    union plim_scalar number;
    enum plim_shadow_known known;
};

static union plim_scalar add_up(const struct plim_array *array, uint64_t from, uint64_t to,
                                enum plim_operator operation, bool is_float, union plim_scalar first)
{
    for (uint64_t i = from; i < to; i++)
        first = plim_operate(operation, is_float, first,
                             plim_element_convert(is_float ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64, array->element,
                                                  plim_array_at(array, i)));
    return first;
}

/* Flags: those that are guesses count as the policy says. */
static struct result count_flags(const struct plim_array *flags)
{
    const bool take_guesses = plim_values_policy() == PLIM_VALUES_MAX;
    struct result result = { .number.i = 0, .known = flags->known };
    if (flags->is_constant && !flags->each) {
        const bool is_set = flags->one.i || (take_guesses && flags->known != PLIM_SHADOW_KNOWN);
        result.number.i = is_set ? (int64_t)flags->n : 0;
        return result;
    }
    for (uint64_t i = 0; i < flags->n; i++)
        result.number.i +=
            plim_array_at(flags, i).i || (take_guesses && plim_array_known_at(flags, i) != PLIM_SHADOW_KNOWN);
    return result;
}

/* Numbers that are all alike: sums by multiplication. */
static union plim_scalar of_constant(const struct plim_array *array, enum plim_operator operation, bool is_float)
{
    union plim_scalar one =
        plim_element_convert(is_float ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64, array->element, array->one);
    if (operation == PLIM_OPERATOR_SUM && is_float)
        one.f *= (double)array->n;
    else if (operation == PLIM_OPERATOR_SUM)
        one.i = (int64_t)((uint64_t)one.i * array->n);
    return one;
}

/* False: too many values. */
static bool reduce(const struct reduction *reduction, void **parameters, uint64_t n, struct result *ret_result)
{
    struct plim_array array;
    const bool is_float = plim_element_is_float((enum plim_element)reduction->out.element);
    if (!plim_iterator_read(&reduction->in, parameters[0], n, &array))
        return false;
    if (reduction->is_count) {
        *ret_result = count_flags(&array);
        plim_array_free(&array);
        return true;
    }
    ret_result->known = array.known;
    bool is_done = true;
    if (n == 0)
        *ret_result = (struct result){ .number.i = 0, .known = PLIM_SHADOW_KNOWN };
    else if (array.is_constant && reduction->operation != PLIM_OPERATOR_PRODUCT)
        ret_result->number = of_constant(&array, reduction->operation, is_float);
    else if (n > PLIM_VIEW_MAX_ELEMENTS)
        is_done = false;
    else
        ret_result->number = add_up(&array, 1, n, reduction->operation, is_float,
                                    plim_element_convert(is_float ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64, array.element,
                                                         plim_array_at(&array, 0)));
    plim_array_free(&array);
    return is_done;
}

/* What nobody knows: of flags, none or all, as the policy says. */
static struct result guess(const struct reduction *reduction, uint64_t n)
{
    struct result result = { .number.i = 0, .known = PLIM_SHADOW_UNKNOWN };
    if (reduction->is_count && plim_values_policy() == PLIM_VALUES_MAX)
        result.number.i = (int64_t)n;
    return result;
}

static void write_result(const struct reduction *reduction, void *const *parameters, const struct result *result)
{
    struct plim_array array; /* its number is within it: it cannot be copied */
    const bool is_float = plim_element_is_float((enum plim_element)reduction->out.element);
    plim_array_make(&array, is_float ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64, 1, true);
    array.one = result->number;
    array.known = result->known;
    plim_iterator_write(&reduction->out, parameters[1], &array);
}

static union plim_scalar first_value(const struct reduction *reduction, void **parameters)
{
    const bool is_float = plim_element_is_float((enum plim_element)reduction->out.element);
    return plim_element_convert(is_float ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64, reduction->first_type,
                                plim_element_load(reduction->first_type, parameters[reduction->first_at]));
}

static void run_tile(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct reduction *reduction = parsed;
    const uint64_t n = plim_parameter_count(reduction->n_type, launch->parameters[2]);
    struct result result;
    if (!reduce(reduction, launch->parameters, n, &result))
        result = guess(reduction, n);
    const union plim_scalar first = first_value(reduction, launch->parameters);
    result.number =
        n == 0 ? first
               : plim_operate(reduction->operation, plim_element_is_float((enum plim_element)reduction->out.element),
                              first, result.number);
    write_result(reduction, launch->parameters, &result);
}

/* The whole result goes to the first block's place; the others hold what does not change it. */
static void run_blocks(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct reduction *reduction = parsed;
    const uint64_t n = plim_parameter_count(reduction->n_type, launch->parameters[2]);
    const uint64_t n_blocks = launch->grid[0];
    struct result result;
    struct plim_array blocks;
    if (!reduce(reduction, launch->parameters, n, &result))
        result = guess(reduction, n);
    const bool is_float = plim_element_is_float((enum plim_element)reduction->out.element);
    if (!plim_array_make(&blocks, is_float ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64, n_blocks, false)) {
        plim_iterator_forget(&reduction->out, launch->parameters[1], n_blocks);
        return;
    }
    union plim_scalar neutral = result.number;
    if (reduction->operation == PLIM_OPERATOR_SUM)
        neutral.i = 0; /* 0.0 as well */
    else if (reduction->operation == PLIM_OPERATOR_PRODUCT && is_float)
        neutral.f = 1;
    else if (reduction->operation == PLIM_OPERATOR_PRODUCT)
        neutral.i = 1;
    for (uint64_t i = 0; i < n_blocks; i++)
        blocks.number[i] = i == 0 ? result.number : neutral;
    blocks.known = result.known;
    plim_iterator_write(&reduction->out, launch->parameters[1], &blocks);
    plim_array_free(&blocks);
}

/* --- segments --- */

static void *parse_segments(struct plim_text name)
{
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    const bool has_number = plim_name_argument(parameters, 4, &type) && plim_text_is(type, "int");
    struct reduction *reduction = parse(name, has_number ? 5 : 4);
    if (reduction && reduction->first_type != PLIM_ELEMENT_NONE && plim_name_argument(parameters, 2, &type) &&
        plim_iterator_of(type, &reduction->starts) && plim_name_argument(parameters, 3, &type) &&
        plim_iterator_of(type, &reduction->ends))
        return reduction;
    free(reduction);
    return NULL;
}

static bool reduce_segments(const struct reduction *reduction, void **parameters, const struct plim_array *starts,
                            const struct plim_array *ends, struct plim_array *out)
{
    struct plim_array in;
    uint64_t n = 0;
    const bool is_float = plim_element_is_float(out->element);
    for (uint64_t i = 0; i < ends->n; i++)
        if (plim_array_at(ends, i).i > (int64_t)n)
            n = (uint64_t)plim_array_at(ends, i).i;
    if (n > PLIM_VIEW_MAX_ELEMENTS || !plim_iterator_read(&reduction->in, parameters[0], n, &in))
        return false;
    for (uint64_t i = 0; i < out->n; i++) {
        const int64_t start = plim_array_at(starts, i).i, end = plim_array_at(ends, i).i;
        out->number[i] = first_value(reduction, parameters);
        if (start >= 0 && end > start)
            out->number[i] =
                add_up(&in, (uint64_t)start, (uint64_t)end, reduction->operation, is_float, out->number[i]);
    }
    out->known = plim_less_known(n > 0 ? in.known : PLIM_SHADOW_KNOWN, plim_less_known(starts->known, ends->known));
    plim_array_free(&in);
    return true;
}

static void run_segments(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct reduction *reduction = parsed;
    const uint64_t n = launch->grid[0];
    struct plim_array starts, ends, out;
    const bool is_float = plim_element_is_float((enum plim_element)reduction->out.element);
    bool is_done = false;
    if (plim_iterator_read(&reduction->starts, launch->parameters[2], n, &starts)) {
        if (plim_iterator_read(&reduction->ends, launch->parameters[3], n, &ends)) {
            if (plim_array_make(&out, is_float ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64, n, false)) {
                is_done = reduce_segments(reduction, launch->parameters, &starts, &ends, &out);
                if (is_done)
                    plim_iterator_write(&reduction->out, launch->parameters[1], &out);
                plim_array_free(&out);
            }
            plim_array_free(&ends);
        }
        plim_array_free(&starts);
    }
    if (!is_done)
        plim_iterator_forget(&reduction->out, launch->parameters[1], n);
}

const struct plim_kernel_form plim_form_cub_reduce_tile = { "DeviceReduceSingleTileKernel", parse_tile, run_tile };
const struct plim_kernel_form plim_form_cub_reduce_blocks = { "DeviceReduceKernel", parse_blocks, run_blocks };
const struct plim_kernel_form plim_form_cub_reduce_segments = { "DeviceSegmentedReduceKernel", parse_segments,
                                                                run_segments };

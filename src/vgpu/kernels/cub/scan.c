/* SPDX-License-Identifier: MIT */
/*
 * Scans by CUB: cumsum and the like of one dimension, the offsets of masked_scatter and unique.
 *   DeviceScanKernel(in, out, tile states, first tile, functor, first value, n)
 * The first value is NullType (each result includes its element) or InputValue (each result excludes it), which holds
 * a flag and, 8 bytes on, the value or, if the flag is set, a pointer to it. CCCL 2.3, 2.7 and 3.3
 * (cub/device/dispatch/dispatch_scan.cuh, cub/util_type.cuh).
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/cub/operator.h"
#include "vgpu/kernels/forms.h"

#include <stdlib.h>
#include <string.h>

struct scan {
    struct plim_iterator in, out;
    struct plim_text n_type;
    enum plim_operator operation;
    enum plim_element first_type; /* NONE: inclusive */
};

static bool read_signature(struct plim_text parameters, struct scan *scan)
{
    struct plim_text type;
    if (!plim_name_argument(parameters, 0, &type) || !plim_iterator_of(type, &scan->in) ||
        !plim_name_argument(parameters, 1, &type) || !plim_iterator_of(type, &scan->out) ||
        scan->in.element == PLIM_ELEMENT_NONE || scan->out.element == PLIM_ELEMENT_NONE ||
        !plim_name_argument(parameters, 4, &type) || (scan->operation = plim_operator_of(type)) == PLIM_OPERATOR_NONE ||
        !plim_name_argument(parameters, 5, &type))
        return false;
    scan->first_type = plim_name_template_element(type, "InputValue", 0);
    return (scan->first_type != PLIM_ELEMENT_NONE || plim_text_has(type, "NullType")) &&
           plim_name_argument(parameters, 6, &scan->n_type);
}

static void *parse(struct plim_text name)
{
    struct scan *scan = calloc(1, sizeof *scan);
    if (scan && read_signature(plim_name_parameters(name), scan))
        return scan;
    free(scan);
    return NULL;
}

struct first {
    union plim_scalar number;
    enum plim_shadow_known known;
};

static struct first first_of(const struct scan *scan, const void *parameter, enum plim_element as)
{
    enum { VALUE_AT = 8 };
    struct first first = { .known = PLIM_SHADOW_KNOWN };
    uint8_t is_pointer, bytes[8] = { 0 };
    const void *pointer;
    memcpy(&is_pointer, parameter, sizeof is_pointer);
    memcpy(&pointer, (const char *)parameter + VALUE_AT, sizeof pointer);
    memcpy(bytes, (const char *)parameter + VALUE_AT, plim_element_bytes(scan->first_type));
    if (is_pointer)
        first.known = plim_view_is_memory(pointer)
                          ? plim_shadow_read(bytes, pointer, plim_element_bytes(scan->first_type))
                          : PLIM_SHADOW_UNKNOWN;
    first.number = plim_element_convert(as, scan->first_type, plim_element_load(scan->first_type, bytes));
    return first;
}

static void compute(const struct scan *scan, const struct plim_array *in, struct first first, struct plim_array *out)
{
    const bool is_float = plim_element_is_float(out->element), is_exclusive = scan->first_type != PLIM_ELEMENT_NONE;
    union plim_scalar sum = first.number;
    enum plim_shadow_known known = first.known;
    for (uint64_t i = 0; i < in->n; i++) {
        const union plim_scalar number = plim_element_convert(out->element, in->element, plim_array_at(in, i));
        const union plim_scalar before = sum;
        const enum plim_shadow_known known_before = known;
        sum = i == 0 && !is_exclusive ? number : plim_operate(scan->operation, is_float, sum, number);
        known = plim_less_known(known, plim_array_known_at(in, i));
        out->number[i] = is_exclusive ? before : sum;
        out->each[i] = (uint8_t)(is_exclusive ? known_before : known);
    }
}

/* All results are alike: sums of zeros, products of ones, and no first value that changes them. */
static bool is_flat(const struct scan *scan, const struct plim_array *in, struct first first, enum plim_element as)
{
    const bool is_float = plim_element_is_float(as);
    const union plim_scalar number = plim_element_convert(as, in->element, in->one);
    const double value = is_float ? number.f : (double)number.i,
                 before = is_float ? first.number.f : (double)first.number.i;
    const double neutral = scan->operation == PLIM_OPERATOR_PRODUCT;
    return in->is_constant && in->n > 0 && value == neutral && scan->operation <= PLIM_OPERATOR_PRODUCT &&
           (scan->first_type == PLIM_ELEMENT_NONE || before == neutral);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct scan *scan = parsed;
    const uint64_t n = plim_parameter_count(scan->n_type, launch->parameters[6]);
    const enum plim_element as =
        plim_element_is_float((enum plim_element)scan->out.element) ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64;
    struct first first = { .known = PLIM_SHADOW_KNOWN };
    struct plim_array in, out;
    if (scan->first_type != PLIM_ELEMENT_NONE)
        first = first_of(scan, launch->parameters[5], as);
    if (!plim_iterator_read(&scan->in, launch->parameters[0], n, &in)) {
        plim_iterator_forget(&scan->out, launch->parameters[1], n);
        return;
    }
    if (is_flat(scan, &in, first, as)) {
        in.known = plim_less_known(in.known, first.known);
        plim_iterator_write(&scan->out, launch->parameters[1], &in);
    } else if (!plim_array_make(&out, as, n, false)) {
        plim_iterator_forget(&scan->out, launch->parameters[1], n);
    } else {
        if (plim_array_make_each(&out)) {
            compute(scan, &in, first, &out);
            plim_iterator_write(&scan->out, launch->parameters[1], &out);
        }
        plim_array_free(&out);
    }
    plim_array_free(&in);
}

const struct plim_kernel_form plim_form_cub_scan = { "DeviceScanKernel", parse, run };

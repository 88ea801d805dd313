/* SPDX-License-Identifier: MIT */
/*
 * tensor_kernel_scan_innermost_dim, tensor_kernel_scan_outer_dim and the same with indices: cumsum, cumprod,
 * logcumsumexp, cummax, cummin (ATen/native/cuda/ScanUtils.cuh; PyTorch 2.5 to 2.15).
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/rows/rows.h"

#include <math.h>
#include <stdlib.h>

enum operation { SUM, PRODUCT, LOG_SUM_EXP, MAX, MIN };

struct scan {
    enum plim_element element;
    enum operation operation;
};

static double log_sum_exp(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;
    if (isnan(a) || isnan(b))
        return NAN;
    return isinf(most) ? most : most + log1p(exp(least - most));
}

static union plim_scalar next(enum operation operation, bool is_float, union plim_scalar a, union plim_scalar b)
{
    if (is_float)
        a.f = operation == SUM ? a.f + b.f : operation == PRODUCT ? a.f * b.f : log_sum_exp(a.f, b.f);
    else
        a.i = (int64_t)(operation == SUM ? (uint64_t)a.i + (uint64_t)b.i : (uint64_t)a.i * (uint64_t)b.i);
    return a;
}

static void scan_row(const struct plim_row *row, const void *about)
{
    const struct scan *scan = about;
    const bool is_float = plim_element_is_float(scan->element);
    union plim_scalar sum = { .i = 0 };
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < row->n; i++) {
        const union plim_scalar number = plim_array_at(row->in, row->first + i * row->step);
        sum = i == 0 ? number : next(scan->operation, is_float, sum, number);
        known = plim_less_known(known, plim_row_known(row, i));
        plim_row_put(row, 0, i, sum, known);
    }
}

/* Of equal ones the last counts: binary_op is greater_equal or less_equal. */
static void extreme_row(const struct plim_row *row, const void *about)
{
    const struct scan *scan = about;
    const bool is_float = plim_element_is_float(scan->element), wants_max = scan->operation == MAX;
    union plim_scalar best = { .i = 0 };
    int64_t index = 0;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < row->n; i++) {
        const union plim_scalar number = plim_array_at(row->in, row->first + i * row->step);
        const bool is_better =
            is_float ? isnan(number.f) || (!isnan(best.f) && (wants_max ? number.f >= best.f : number.f <= best.f))
                     : (wants_max ? number.i >= best.i : number.i <= best.i);
        if (i == 0 || is_better) {
            best = number;
            index = (int64_t)i;
        }
        known = plim_less_known(known, plim_row_known(row, i));
        plim_row_put(row, 0, i, best, known);
        plim_row_put(row, 1, i, (union plim_scalar){ .i = index }, known);
    }
}

static bool operation_of(struct plim_text arguments, enum operation *ret)
{
    static const struct {
        const char *name;
        enum operation operation;
    } names[] = { { "std::plus<", SUM },
                  { "std::multiplies<", PRODUCT },
                  { "logcumsumexp", LOG_SUM_EXP },
                  { "std::greater_equal<", MAX },
                  { "std::less_equal<", MIN } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (plim_text_has(arguments, names[i].name)) {
            *ret = names[i].operation;
            return true;
        }
    return false;
}

static void *parse(struct plim_text name)
{
    struct plim_text arguments, first;
    struct scan *scan = calloc(1, sizeof *scan);
    if (scan && (plim_name_template(name, "_dim", &arguments) || plim_name_template(name, "_indices", &arguments)) &&
        plim_name_argument(arguments, 0, &first) && operation_of(arguments, &scan->operation)) {
        scan->element = plim_name_element(first);
        if (scan->element != PLIM_ELEMENT_NONE)
            return scan;
    }
    free(scan);
    return NULL;
}

static void run_values(const struct scan *scan, void *const *parameters, uint64_t n_outer, uint64_t n, uint64_t n_inner)
{
    const struct plim_rows rows = { .in = plim_pointer_at(parameters, 1),
                                    .out = { plim_pointer_at(parameters, 0) },
                                    .in_type = scan->element,
                                    .out_type = { scan->element },
                                    .n_outer = n_outer,
                                    .n = n,
                                    .n_inner = n_inner };
    plim_rows_apply(&rows, scan_row, scan);
}

static void run_extremes(const struct scan *scan, void *const *parameters, uint64_t n_outer, uint64_t n,
                         uint64_t n_inner)
{
    const struct plim_rows rows = { .in = plim_pointer_at(parameters, 0),
                                    .out = { plim_pointer_at(parameters, 1), plim_pointer_at(parameters, 2) },
                                    .in_type = scan->element,
                                    .out_type = { scan->element, PLIM_ELEMENT_I64 },
                                    .n_outer = n_outer,
                                    .n = n,
                                    .n_inner = n_inner };
    plim_rows_apply(&rows, extreme_row, scan);
}

/* (tgt, src, num_rows, row_size, ...) */
static void run_innermost(const void *parsed, const struct plim_kernel_launch *launch)
{
    void **p = launch->parameters;
    run_values(parsed, p, plim_count_at(p, 2, 4), plim_count_at(p, 3, 4), 1);
}

/* (tgt, src, num_orows, num_irows, row_size, ...) */
static void run_outer(const void *parsed, const struct plim_kernel_launch *launch)
{
    void **p = launch->parameters;
    run_values(parsed, p, plim_count_at(p, 2, 4), plim_count_at(p, 4, 4), plim_count_at(p, 3, 4));
}

/* (self, values, indices, num_rows, row_size, ...) */
static void run_innermost_indices(const void *parsed, const struct plim_kernel_launch *launch)
{
    void **p = launch->parameters;
    run_extremes(parsed, p, plim_count_at(p, 3, 4), plim_count_at(p, 4, 4), 1);
}

/* (self, values, indices, num_orows, num_irows, row_size, ...) */
static void run_outer_indices(const void *parsed, const struct plim_kernel_launch *launch)
{
    void **p = launch->parameters;
    run_extremes(parsed, p, plim_count_at(p, 3, 4), plim_count_at(p, 5, 4), plim_count_at(p, 4, 4));
}

const struct plim_kernel_form plim_form_scan_innermost = { "at::native::tensor_kernel_scan_innermost_dim", parse,
                                                           run_innermost };
const struct plim_kernel_form plim_form_scan_outer = { "at::native::tensor_kernel_scan_outer_dim", parse, run_outer };
const struct plim_kernel_form plim_form_scan_innermost_indices = {
    "at::native::tensor_kernel_scan_innermost_dim_with_indices", parse, run_innermost_indices
};
const struct plim_kernel_form plim_form_scan_outer_indices = { "at::native::tensor_kernel_scan_outer_dim_with_indices",
                                                               parse, run_outer_indices };

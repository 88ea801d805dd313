/* SPDX-License-Identifier: MIT */
/*
 * vectorized_layer_norm_kernel<T, T_ACC[, rms_norm]>(N, eps, X, gamma, beta, mean, rstd, Y) of
 * ATen/native/cuda/layer_norm_kernel.cu, a block for each row; PyTorch 2.5 to 2.15. gamma and beta may be missing.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

struct norm {
    enum plim_element element, acc;
    bool is_rms;
};

enum { IN, GAMMA, BETA, N_INPUTS };
enum { MEAN, RSTD, OUT, N_OUTPUTS };

struct row_norm {
    struct plim_array in[N_INPUTS], out[N_OUTPUTS]; /* an input without numbers is missing */
    double eps;
    uint64_t n;
};

static void *parse(struct plim_text name)
{
    static const char function[] = "vectorized_layer_norm_kernel";
    struct plim_text arguments, is_rms;
    struct norm *norm = malloc(sizeof *norm);
    if (norm && plim_name_template(name, function, &arguments)) {
        *norm =
            (struct norm){ plim_name_template_element(name, function, 0), plim_name_template_element(name, function, 1),
                           plim_name_argument(arguments, 2, &is_rms) && plim_text_is(is_rms, "true") };
        if (norm->element && norm->acc)
            return norm;
    }
    free(norm);
    return NULL;
}

/* --- one row --- */

static double sum_of(const struct row_norm *rows, uint64_t first, double middle, unsigned power)
{
    double sum = 0;
    for (uint64_t i = first; i < first + rows->n; i++) {
        const double x = plim_array_at(&rows->in[IN], i).f - middle;
        sum += power == 2 ? x * x : x;
    }
    return sum / (double)rows->n;
}

static void put(struct plim_array *array, uint64_t at, double value, enum plim_shadow_known known)
{
    array->number[at].f = value;
    array->each[at] = (uint8_t)known;
}

static void compute_row(const struct norm *norm, struct row_norm *rows, uint64_t row)
{
    const uint64_t first = row * rows->n;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = first; i < first + rows->n; i++)
        known = plim_less_known(known, plim_array_known_at(&rows->in[IN], i));
    const double mean = norm->is_rms ? 0 : sum_of(rows, first, 0, 1);
    const double rstd = 1 / sqrt(sum_of(rows, first, mean, 2) + rows->eps);
    put(&rows->out[MEAN], row, mean, known);
    put(&rows->out[RSTD], row, rstd, known);
    for (uint64_t i = 0; i < rows->n; i++) {
        double y = (plim_array_at(&rows->in[IN], first + i).f - mean) * rstd;
        enum plim_shadow_known of_y = known;
        for (unsigned k = GAMMA; k <= BETA; k++) {
            if (!rows->in[k].number)
                continue;
            const double factor = plim_array_at(&rows->in[k], i).f;
            y = k == GAMMA ? y * factor : y + factor;
            of_y = plim_less_known(of_y, plim_array_known_at(&rows->in[k], i));
        }
        put(&rows->out[OUT], first + i, y, of_y);
    }
}

/* --- the launch --- */

static bool read_inputs(const struct norm *norm, struct row_norm *rows, void *const *p, uint64_t n_rows)
{
    for (unsigned k = IN; k < N_INPUTS; k++) {
        const void *pointer = plim_pointer_at(p, 2 + k);
        const struct plim_view view = plim_view_flat(pointer, norm->element, k == IN ? n_rows * rows->n : rows->n);
        if (pointer && !plim_view_read(&view, &rows->in[k])) {
            rows->in[k].number = NULL;
            return false;
        }
    }
    return true;
}

static bool make_outputs(struct row_norm *rows, uint64_t n_rows)
{
    for (unsigned k = 0; k < N_OUTPUTS; k++) {
        const uint64_t n = k == OUT ? n_rows * rows->n : n_rows;
        if (!plim_array_make(&rows->out[k], PLIM_ELEMENT_F64, n, false)) {
            rows->out[k].number = NULL;
            return false;
        }
        if (!plim_array_make_each(&rows->out[k]))
            return false;
    }
    return true;
}

static void write_outputs(const struct norm *norm, struct row_norm *rows, void *const *p, uint64_t n_rows,
                          bool is_known)
{
    for (unsigned k = norm->is_rms ? RSTD : MEAN; k < N_OUTPUTS; k++) {
        const struct plim_view view = k == OUT ? plim_view_flat(plim_pointer_at(p, 7), norm->element, n_rows * rows->n)
                                               : plim_view_flat(plim_pointer_at(p, 5 + k), norm->acc, n_rows);
        if (is_known)
            plim_view_write(&view, &rows->out[k]);
        else
            plim_view_forget(&view);
    }
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct norm *norm = parsed;
    void *const *p = launch->parameters;
    struct row_norm rows = { .n = plim_count_at(p, 0, 4) };
    const uint64_t n_rows = launch->grid[0];
    float eps;
    memcpy(&eps, p[1], sizeof eps);
    rows.eps = eps;
    const bool is_small = norm->acc == PLIM_ELEMENT_F32 && rows.n && n_rows * rows.n <= PLIM_VIEW_MAX_ELEMENTS;
    const bool is_computed = is_small && read_inputs(norm, &rows, p, n_rows) && make_outputs(&rows, n_rows);
    for (uint64_t row = 0; is_computed && row < n_rows; row++)
        compute_row(norm, &rows, row);
    write_outputs(norm, &rows, p, n_rows, is_computed);
    for (unsigned k = 0; k < N_INPUTS; k++)
        if (rows.in[k].number)
            plim_array_free(&rows.in[k]);
    for (unsigned k = 0; k < N_OUTPUTS; k++)
        if (rows.out[k].number)
            plim_array_free(&rows.out[k]);
}

const struct plim_kernel_form plim_form_layer_norm = {
    "at::native::(anonymous namespace)::vectorized_layer_norm_kernel", parse, run
};

/* SPDX-License-Identifier: MIT */
/*
 * layer_norm and rms_norm forward (ATen/native/cuda/layer_norm_kernel.cu; PyTorch 2.5 to 2.15):
 *
 *     vectorized_layer_norm_kernel<T, T_ACC[, rms]>(int N, eps, X, gamma, beta, mean, rstd, Y), a block for each row
 *     RowwiseMomentsCUDAKernel<T, T_ACC[, rms]>([M,] N, eps, X, mean, rstd)
 *     LayerNormForwardCUDAKernel<T, T_ACC[, rms]>([M,] N, X, mean, rstd, gamma, beta, Y)
 *
 * M, the number of rows, is a parameter in the newer versions; before, each row has a block.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

struct norm {
    enum plim_element element, acc;
    bool is_rms, has_rows; /* M is a parameter */
};

static void *parse_of(struct plim_text name, const char *function)
{
    struct plim_text arguments, rms, second;
    struct norm *norm = calloc(1, sizeof *norm);
    if (norm && plim_name_template(name, function, &arguments)) {
        norm->element = plim_name_template_element(name, function, 0);
        norm->acc = plim_name_template_element(name, function, 1);
        if (!plim_name_argument(arguments, 1, &second)) /* that of group_norm */
            norm->acc = norm->element;
        norm->is_rms = plim_name_argument(arguments, 2, &rms) && plim_text_is(rms, "true");
        norm->has_rows = plim_name_argument(plim_name_parameters(name), 1, &second) && plim_text_is(second, "long");
        if (norm->element && norm->acc)
            return norm;
    }
    free(norm);
    return NULL;
}

static void *parse_whole(struct plim_text name) { return parse_of(name, "vectorized_layer_norm_kernel"); }
static void *parse_moments(struct plim_text name) { return parse_of(name, "RowwiseMomentsCUDAKernel"); }
static void *parse_forward(struct plim_text name) { return parse_of(name, "LayerNormForwardCUDAKernel"); }

/* --- what a launch works on; a pointer may be NULL --- */

enum { X, GAMMA, BETA, MEAN, RSTD, Y, N_TENSORS };

struct rows {
    const struct norm *norm;
    uint64_t n_rows, n;
    double epsilon;
    const void *at[N_TENSORS];
    struct plim_array array[N_TENSORS];
    bool is_there[N_TENSORS];
};

static struct plim_view view_of(const struct rows *rows, int tensor)
{
    const bool is_row = tensor == GAMMA || tensor == BETA, is_moment = tensor == MEAN || tensor == RSTD;
    uint64_t n = is_row ? rows->n : rows->n_rows;
    if (!is_row && !is_moment && __builtin_mul_overflow(n, rows->n, &n))
        n = UINT64_MAX;
    return plim_view_flat(rows->at[tensor], is_moment ? rows->norm->acc : rows->norm->element, n);
}

static void forget(const struct rows *rows, int tensor)
{
    const struct plim_view view = view_of(rows, tensor);
    if (rows->at[tensor])
        plim_view_forget(&view);
}

static bool read(struct rows *rows, int tensor)
{
    const struct plim_view view = view_of(rows, tensor);
    return !rows->at[tensor] || (rows->is_there[tensor] = plim_view_read(&view, &rows->array[tensor]));
}

static bool make(struct rows *rows, int tensor)
{
    const uint64_t n = tensor == Y ? rows->n_rows * rows->n : rows->n_rows;
    rows->is_there[tensor] = plim_array_make(&rows->array[tensor], PLIM_ELEMENT_F64, n, false);
    return rows->is_there[tensor] && plim_array_make_each(&rows->array[tensor]);
}

static void write(struct rows *rows, int tensor)
{
    const struct plim_view view = view_of(rows, tensor);
    if (rows->at[tensor])
        plim_view_write(&view, &rows->array[tensor]);
}

static void done_with(struct rows *rows)
{
    for (int i = 0; i < N_TENSORS; i++)
        if (rows->is_there[i])
            plim_array_free(&rows->array[i]);
}

/* --- arithmetic --- */

static void find_moments(struct rows *rows, uint64_t row)
{
    const struct plim_array *x = &rows->array[X];
    double sum = 0, squares = 0;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < rows->n; i++) {
        sum += plim_array_at(x, row * rows->n + i).f;
        known = plim_less_known(known, plim_array_known_at(x, row * rows->n + i));
    }
    const double mean = rows->norm->is_rms ? 0 : sum / (double)rows->n;
    for (uint64_t i = 0; i < rows->n; i++) {
        const double distance = plim_array_at(x, row * rows->n + i).f - mean;
        squares += distance * distance;
    }
    rows->array[MEAN].number[row].f = mean;
    rows->array[RSTD].number[row].f = 1 / sqrt(squares / (double)rows->n + rows->epsilon);
    rows->array[MEAN].each[row] = rows->array[RSTD].each[row] = (uint8_t)known;
}

static void normalize(struct rows *rows, uint64_t row)
{
    const struct plim_array *gamma = rows->is_there[GAMMA] ? &rows->array[GAMMA] : NULL;
    const struct plim_array *beta = rows->is_there[BETA] ? &rows->array[BETA] : NULL;
    const double mean = rows->norm->is_rms ? 0 : plim_array_at(&rows->array[MEAN], row).f;
    const double rstd = plim_array_at(&rows->array[RSTD], row).f;
    for (uint64_t i = 0; i < rows->n; i++) {
        const uint64_t at = row * rows->n + i;
        double y = (plim_array_at(&rows->array[X], at).f - mean) * rstd;
        enum plim_shadow_known known =
            plim_less_known(plim_array_known_at(&rows->array[X], at), plim_array_known_at(&rows->array[RSTD], row));
        if (!rows->norm->is_rms)
            known = plim_less_known(known, plim_array_known_at(&rows->array[MEAN], row));
        if (gamma) {
            y *= plim_array_at(gamma, i).f;
            known = plim_less_known(known, plim_array_known_at(gamma, i));
        }
        if (beta) {
            y += plim_array_at(beta, i).f;
            known = plim_less_known(known, plim_array_known_at(beta, i));
        }
        rows->array[Y].number[at].f = y;
        rows->array[Y].each[at] = (uint8_t)known;
    }
}

/* Of guesses only, or of too many numbers, nothing is computed. */
static bool is_worth_it(const struct rows *rows)
{
    uint64_t n;
    const struct plim_array *x = &rows->array[X];
    return rows->n > 0 && !__builtin_mul_overflow(rows->n_rows, rows->n, &n) && n <= PLIM_VIEW_MAX_ELEMENTS &&
           (x->each || x->known != PLIM_SHADOW_UNKNOWN);
}

/* --- launches --- */

static void run_whole(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    struct rows rows = { .norm = parsed, .n_rows = launch->grid[0], .n = plim_count_at(p, 0, 4) };
    const enum plim_element acc = rows.norm->acc;
    rows.epsilon = plim_element_as_double(acc, plim_element_load(acc, p[1]));
    for (int i = 0; i < N_TENSORS; i++)
        rows.at[i] = plim_pointer_at(p, (unsigned)(2 + i));
    if (read(&rows, X) && is_worth_it(&rows) && read(&rows, GAMMA) && read(&rows, BETA) && make(&rows, MEAN) &&
        make(&rows, RSTD) && make(&rows, Y)) {
        for (uint64_t row = 0; row < rows.n_rows; row++) {
            find_moments(&rows, row);
            normalize(&rows, row);
        }
        write(&rows, MEAN);
        write(&rows, RSTD);
        write(&rows, Y);
    } else {
        forget(&rows, MEAN);
        forget(&rows, RSTD);
        forget(&rows, Y);
    }
    done_with(&rows);
}

static struct rows rows_of(const struct norm *norm, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    return (struct rows){ .norm = norm,
                          .n_rows = norm->has_rows ? plim_count_at(p, 0, 8) : launch->grid[0],
                          .n = plim_count_at(p, norm->has_rows, 8) };
}

static void run_moments(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct norm *norm = parsed;
    void *const *p = launch->parameters + norm->has_rows; /* from N on */
    struct rows rows = rows_of(norm, launch);
    rows.epsilon = plim_element_as_double(norm->acc, plim_element_load(norm->acc, p[1]));
    rows.at[X] = plim_pointer_at(p, 2);
    rows.at[MEAN] = plim_pointer_at(p, 3);
    rows.at[RSTD] = plim_pointer_at(p, 4);
    if (read(&rows, X) && is_worth_it(&rows) && make(&rows, MEAN) && make(&rows, RSTD)) {
        for (uint64_t row = 0; row < rows.n_rows; row++)
            find_moments(&rows, row);
        write(&rows, MEAN);
        write(&rows, RSTD);
    } else {
        forget(&rows, MEAN);
        forget(&rows, RSTD);
    }
    done_with(&rows);
}

static void run_forward(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct norm *norm = parsed;
    void *const *p = launch->parameters + norm->has_rows; /* from N on */
    struct rows rows = rows_of(norm, launch);
    rows.at[X] = plim_pointer_at(p, 1);
    rows.at[MEAN] = norm->is_rms ? NULL : plim_pointer_at(p, 2);
    rows.at[RSTD] = plim_pointer_at(p, 3);
    rows.at[GAMMA] = plim_pointer_at(p, 4);
    rows.at[BETA] = plim_pointer_at(p, 5);
    rows.at[Y] = plim_pointer_at(p, 6);
    const bool has_moments = rows.at[RSTD] && (norm->is_rms || rows.at[MEAN]);
    if (has_moments && read(&rows, X) && is_worth_it(&rows) && read(&rows, MEAN) && read(&rows, RSTD) &&
        read(&rows, GAMMA) && read(&rows, BETA) && make(&rows, Y)) {
        for (uint64_t row = 0; row < rows.n_rows; row++)
            normalize(&rows, row);
        write(&rows, Y);
    } else {
        forget(&rows, Y);
    }
    done_with(&rows);
}

const struct plim_kernel_form plim_form_layer_norm = {
    "at::native::(anonymous namespace)::vectorized_layer_norm_kernel", parse_whole, run_whole
};
const struct plim_kernel_form plim_form_row_moments = { "at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel",
                                                        parse_moments, run_moments };
const struct plim_kernel_form plim_form_layer_norm_forward = {
    "at::native::(anonymous namespace)::LayerNormForwardCUDAKernel", parse_forward, run_forward
};

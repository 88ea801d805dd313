/* SPDX-License-Identifier: MIT */
/*
 * triu_tril_kernel<T, index type, upper, elements per thread, in place>(result, self, int64_t k, ...), and
 * tril_indices_kernel, triu_indices_kernel (ATen/native/cuda/TriangularOps.cu and TensorFactories.cu; PyTorch 2.5 to
 * 2.15).
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct triangle {
    enum plim_element element;
    unsigned index_bytes;
    bool is_upper;
};

static void *parse_mask(struct plim_text name)
{
    struct plim_text arguments, argument;
    struct triangle *triangle = calloc(1, sizeof *triangle);
    if (triangle && plim_name_template(name, "triu_tril_kernel", &arguments) &&
        plim_name_argument(arguments, 0, &argument)) {
        triangle->element = plim_name_element(argument);
        triangle->index_bytes =
            plim_name_argument(arguments, 1, &argument) ? plim_element_bytes(plim_name_element(argument)) : 0;
        triangle->is_upper = plim_name_argument(arguments, 2, &argument) && plim_text_is(argument, "true");
        if (triangle->element != PLIM_ELEMENT_NONE && (triangle->index_bytes == 4 || triangle->index_bytes == 8))
            return triangle;
    }
    free(triangle);
    return NULL;
}

/* The zeros of the other triangle are known, whatever the rest is. */
static bool mask(const struct triangle *triangle, const struct plim_view *self, int64_t k, struct plim_array *values,
                 struct plim_array *ret_result)
{
    if (!plim_array_make(ret_result, triangle->element, values->n, false))
        return false;
    if (!plim_array_make_each(ret_result)) {
        plim_array_free(ret_result);
        return false;
    }
    int64_t column = 0, row = 0;
    for (uint64_t i = 0; i < values->n; i++) {
        if (triangle->is_upper ? column - row >= k : column - row <= k) {
            ret_result->number[i] = plim_array_at(values, i);
            ret_result->each[i] = (uint8_t)plim_array_known_at(values, i);
        }
        if (++column == self->size[0]) {
            column = 0;
            row = row + 1 == self->size[1] ? 0 : row + 1;
        }
    }
    return true;
}

static void run_mask(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct triangle *triangle = parsed;
    void *const *p = launch->parameters;
    struct plim_view result, self;
    struct plim_array values, masked;
    if (!plim_view_of_info(p[0], triangle->element, triangle->index_bytes, &result) ||
        !plim_view_of_info(p[1], triangle->element, triangle->index_bytes, &self) || self.n_dimensions < 2) {
        plim_shadow_lose(plim_pointer_at(p, 0));
        return;
    }
    if (plim_view_n(&self) != plim_view_n(&result) || plim_view_n(&self) > PLIM_VIEW_MAX_ELEMENTS ||
        !plim_view_read(&self, &values)) {
        plim_view_forget(&result);
        return;
    }
    if (mask(triangle, &self, plim_int64_at(p, 2), &values, &masked)) {
        plim_view_write(&result, &masked);
        plim_array_free(&masked);
    } else {
        plim_view_forget(&result);
    }
    plim_array_free(&values);
}

/* --- rows and columns of a triangle: (tensor, offset, first row's length, columns, size of one part, size) --- */

static void *parse_indices(struct plim_text name)
{
    struct triangle *triangle = calloc(1, sizeof *triangle);
    if (!triangle)
        return NULL;
    triangle->is_upper = plim_text_has(name, "triu_indices_kernel<");
    triangle->element = plim_name_template_element(name, "_indices_kernel", 0);
    if (triangle->element == PLIM_ELEMENT_I64 || triangle->element == PLIM_ELEMENT_I32)
        return triangle;
    free(triangle);
    return NULL;
}

/* A trapezoid whose rows get longer by one, then a rectangle. */
static void lower(struct plim_array *indices, void *const *p, uint64_t n)
{
    const int64_t row_offset = plim_int64_at(p, 1), first = plim_int64_at(p, 2), columns = plim_int64_at(p, 3);
    const uint64_t n_trapezoid = plim_count_at(p, 4, 8);
    int64_t row = 0, column = 0;
    for (uint64_t i = 0; i < n; i++) {
        indices->number[i].i = row + row_offset;
        indices->number[n + i].i = column;
        if (++column >= (i < n_trapezoid ? first + row : columns)) {
            column = 0;
            row++;
        }
    }
}

/* A rectangle, then a trapezoid whose rows get shorter by one. */
static void upper(struct plim_array *indices, void *const *p, uint64_t n)
{
    const int64_t column_offset = plim_int64_at(p, 1), first = plim_int64_at(p, 2), columns = plim_int64_at(p, 3);
    const uint64_t n_rectangle = plim_count_at(p, 4, 8);
    const int64_t n_rows = columns > 0 ? (int64_t)n_rectangle / columns : 0;
    int64_t row = 0, column = 0;
    for (uint64_t i = 0; i < n; i++) {
        const bool is_rectangle = i < n_rectangle;
        indices->number[i].i = row;
        indices->number[n + i].i = column + column_offset;
        if (++column >= (is_rectangle ? columns : first)) {
            row++;
            column = row > n_rows ? row - n_rows : 0;
        }
    }
}

static void run_indices(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct triangle *triangle = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 5, 8);
    const struct plim_view view = plim_view_flat(plim_pointer_at(p, 0), triangle->element, 2 * n);
    struct plim_array indices;
    if (n > PLIM_VIEW_MAX_ELEMENTS / 2 || !plim_array_make(&indices, triangle->element, 2 * n, false)) {
        plim_view_forget(&view);
        return;
    }
    if (n > 0)
        (triangle->is_upper ? upper : lower)(&indices, p, n);
    plim_view_write(&view, &indices);
    plim_array_free(&indices);
}

const struct plim_kernel_form plim_form_triangle = { "at::native::triu_tril_kernel", parse_mask, run_mask };
const struct plim_kernel_form plim_form_tril_indices = { "at::native::tril_indices_kernel", parse_indices,
                                                         run_indices };
const struct plim_kernel_form plim_form_triu_indices = { "at::native::triu_indices_kernel", parse_indices,
                                                         run_indices };

/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/rows/rows.h"

static unsigned n_outputs(const struct plim_rows *rows) { return rows->out_type[1] == PLIM_ELEMENT_NONE ? 1 : 2; }

static uint64_t n_elements(const struct plim_rows *rows)
{
    uint64_t n;
    return __builtin_mul_overflow(rows->n_outer, rows->n, &n) || __builtin_mul_overflow(n, rows->n_inner, &n)
               ? UINT64_MAX
               : n;
}

void plim_rows_forget(const struct plim_rows *rows)
{
    for (unsigned i = 0; i < n_outputs(rows); i++) {
        const struct plim_view out = plim_view_flat(rows->out[i], rows->out_type[i], n_elements(rows));
        plim_view_forget(&out);
    }
}

/* Two elements at least, so that the array is not one of a constant. */
static bool make(struct plim_array *array, enum plim_element type, uint64_t n)
{
    const enum plim_element numbers = plim_element_is_float(type) ? PLIM_ELEMENT_F64 : PLIM_ELEMENT_I64;
    return plim_array_make(array, numbers, n, false) && plim_array_make_each(array);
}

void plim_rows_apply(const struct plim_rows *rows, plim_row_function *function, const void *about)
{
    const uint64_t n = n_elements(rows);
    const struct plim_view from = plim_view_flat(rows->in, rows->in_type, n);
    struct plim_array in, out[2] = { { 0 }, { 0 } };
    if (n == 0) /* however many rows of nothing */
        return;
    bool is_done = n <= PLIM_VIEW_MAX_ELEMENTS && plim_view_read(&from, &in);
    if (!is_done) {
        plim_rows_forget(rows);
        return;
    }
    for (unsigned i = 0; i < n_outputs(rows); i++)
        is_done = make(&out[i], rows->out_type[i], n) && is_done;
    for (uint64_t outer = 0; is_done && outer < rows->n_outer; outer++)
        for (uint64_t inner = 0; inner < rows->n_inner; inner++) {
            const struct plim_row row = { &in, out, outer * rows->n * rows->n_inner + inner, rows->n_inner, rows->n };
            function(&row, about);
        }
    for (unsigned i = 0; i < n_outputs(rows); i++) {
        const struct plim_view to = plim_view_flat(rows->out[i], rows->out_type[i], n);
        if (is_done)
            plim_view_write(&to, &out[i]);
        plim_array_free(&out[i]);
    }
    if (!is_done)
        plim_rows_forget(rows);
    plim_array_free(&in);
}

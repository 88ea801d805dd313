/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_ROWS_ROWS_H
#define PLIMSOLL_VGPU_KERNELS_ROWS_ROWS_H

/* Kernels that treat one dimension of a contiguous tensor as rows: scans, softmax. */

#include "vgpu/kernels/kernel.h"

/* [n_outer][n][n_inner] elements: a row has n of them, n_inner apart. */
struct plim_rows {
    const void *in, *out[2];
    enum plim_element in_type, out_type[2]; /* NONE: there is no second output */
    uint64_t n_outer, n, n_inner;
};

/* One row: number i of the input is at first + i * step, and so are those of the outputs. */
struct plim_row {
    const struct plim_array *in;
    struct plim_array *out; /* [2]; their `each` is there */
    uint64_t first, step, n;
};
typedef void plim_row_function(const struct plim_row *row, const void *about);

/* Compute all rows. Where nothing can be computed, the outputs become unknown. */
void plim_rows_apply(const struct plim_rows *rows, plim_row_function *function, const void *about);

/* The outputs become unknown. */
void plim_rows_forget(const struct plim_rows *rows);

static inline double plim_row_double(const struct plim_row *row, uint64_t i)
{
    return plim_element_as_double(row->in->element, plim_array_at(row->in, row->first + i * row->step));
}

static inline enum plim_shadow_known plim_row_known(const struct plim_row *row, uint64_t i)
{
    return plim_array_known_at(row->in, row->first + i * row->step);
}

static inline void plim_row_put(const struct plim_row *row, unsigned output, uint64_t i, union plim_scalar number,
                                enum plim_shadow_known known)
{
    row->out[output].number[row->first + i * row->step] = number;
    row->out[output].each[row->first + i * row->step] = (uint8_t)known;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_CUB_RELATION_H
#define PLIMSOLL_VGPU_KERNELS_CUB_RELATION_H

/*
 * Relations between two elements, by which kernels sort and drop duplicates: of their values, or, in unique(dim=...),
 * of rows of a tensor whose numbers the elements are.
 */

#include "vgpu/kernels/view.h"

#include "vgpu/kernels/name.h"

enum plim_relation_kind {
    PLIM_RELATION_NONE, /* not known */
    PLIM_RELATION_EQUAL,
    PLIM_RELATION_LESS,
    PLIM_RELATION_GREATER,
    PLIM_RELATION_ROWS_LESS,
    PLIM_RELATION_ROWS_EQUAL,
    PLIM_RELATION_ROWS_DIFFER
};

struct plim_relation {
    enum plim_relation_kind kind;
    bool is_nan_largest;    /* for LESS and GREATER; otherwise NaN is in no relation */
    enum plim_element rows; /* the type of elements of rows */
};

/* From the type of a functor. False: another one. */
bool plim_relation_of(struct plim_text type, struct plim_relation *ret_relation);

/* A relation with the rows that it needs. */
struct plim_judge {
    struct plim_relation relation;
    bool is_float;
    enum plim_shadow_known known; /* the certainty of what is not in the elements: the rows */
    uint64_t row_size, n_rows;
    struct plim_array rows;
};

/*
 * To be ended with plim_judge_end(). functor: the parameter; element: the type of the elements; n: their number, and
 * that of rows. False, with nothing to end: rows that are not to be had.
 */
bool plim_judge_begin(const struct plim_relation *relation, const void *functor, enum plim_element element, uint64_t n,
                      struct plim_judge *ret_judge);

/* Whether the relation holds. Elements that are no row of the tensor are in no relation. */
bool plim_judge_holds(const struct plim_judge *judge, union plim_scalar a, union plim_scalar b);

/* Whether all rows are alike. */
bool plim_judge_is_constant(const struct plim_judge *judge);

void plim_judge_end(struct plim_judge *judge);

#endif

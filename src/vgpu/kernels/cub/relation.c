/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/cub/relation.h"

#include <math.h>
#include <string.h>

/*
 * LTOp and GTOp: ATen/native/cuda/SortingCommon.cuh, with a flag for NaN. The lambdas of unique_dim_cuda_template
 * (ATen/native/cuda/Unique.cu) are, in this order, less, equal and not_equal. PyTorch 2.5 to 2.15.
 */
bool plim_relation_of(struct plim_text type, struct plim_relation *ret_relation)
{
    static const char rows[] = "unique_dim_cuda_template";
    struct plim_text arguments, flag;
    *ret_relation = (struct plim_relation){ .kind = PLIM_RELATION_NONE };
    if (plim_text_has(type, rows)) {
        ret_relation->rows = plim_name_template_element(type, rows, 0);
        ret_relation->kind = ret_relation->rows == PLIM_ELEMENT_NONE           ? PLIM_RELATION_NONE
                             : plim_text_has(type, "::{lambda(long, long)#1}") ? PLIM_RELATION_ROWS_LESS
                             : plim_text_has(type, "::{lambda(long, long)#2}") ? PLIM_RELATION_ROWS_EQUAL
                             : plim_text_has(type, "::{lambda(long, long)#3}") ? PLIM_RELATION_ROWS_DIFFER
                                                                               : PLIM_RELATION_NONE;
    } else if (plim_text_has(type, "::equal_to<")) {
        ret_relation->kind = PLIM_RELATION_EQUAL;
    } else if (plim_text_has(type, "::less<")) {
        ret_relation->kind = PLIM_RELATION_LESS;
    } else if (plim_name_template(type, "::LTOp", &arguments) || plim_name_template(type, "::GTOp", &arguments)) {
        ret_relation->kind = plim_text_has(type, "::LTOp<") ? PLIM_RELATION_LESS : PLIM_RELATION_GREATER;
        ret_relation->is_nan_largest = plim_name_argument(arguments, 1, &flag) && plim_text_is(flag, "true");
    }
    return ret_relation->kind != PLIM_RELATION_NONE;
}

/* The lambdas capture the length of a row (a long) and then the pointer to the rows. */
bool plim_judge_begin(const struct plim_relation *relation, const void *functor, enum plim_element element, uint64_t n,
                      struct plim_judge *ret_judge)
{
    struct {
        int64_t row_size;
        const void *rows;
    } held;
    *ret_judge = (struct plim_judge){ .relation = *relation, .known = PLIM_SHADOW_KNOWN };
    ret_judge->is_float = plim_element_is_float(element);
    if (relation->kind < PLIM_RELATION_ROWS_LESS)
        return true;
    memcpy(&held, functor, sizeof held);
    uint64_t n_elements;
    if (held.row_size < 0 || __builtin_mul_overflow((uint64_t)held.row_size, n, &n_elements) ||
        !plim_view_is_memory(held.rows))
        return false;
    const struct plim_view tensor = plim_view_flat(held.rows, relation->rows, n_elements);
    if (!plim_view_read(&tensor, &ret_judge->rows))
        return false;
    ret_judge->row_size = (uint64_t)held.row_size;
    ret_judge->n_rows = n;
    ret_judge->known = n_elements > 0 ? ret_judge->rows.known : PLIM_SHADOW_KNOWN;
    return true;
}

bool plim_judge_is_constant(const struct plim_judge *judge)
{
    return judge->relation.kind >= PLIM_RELATION_ROWS_LESS && judge->rows.is_constant;
}

void plim_judge_end(struct plim_judge *judge)
{
    if (judge->relation.kind >= PLIM_RELATION_ROWS_LESS)
        plim_array_free(&judge->rows);
}

/* --- the relations --- */

static bool is_less(const struct plim_judge *judge, union plim_scalar a, union plim_scalar b)
{
    if (!judge->is_float)
        return a.i < b.i;
    return a.f < b.f || (judge->relation.is_nan_largest && isnan(b.f) && !isnan(a.f));
}

static int compare(bool is_float, union plim_scalar a, union plim_scalar b)
{
    return is_float ? (a.f > b.f) - (a.f < b.f) : (a.i > b.i) - (a.i < b.i);
}

static bool is_of_rows(const struct plim_judge *judge, int64_t a, int64_t b)
{
    const enum plim_relation_kind kind = judge->relation.kind;
    const bool is_float = plim_element_is_float(judge->relation.rows);
    if (a < 0 || b < 0 || (uint64_t)a >= judge->n_rows || (uint64_t)b >= judge->n_rows)
        return false;
    const uint64_t n =
        judge->rows.is_constant && judge->row_size > 0 ? 1 : judge->row_size; /* of many alike, one says it */
    for (uint64_t i = 0; i < n; i++) {
        const union plim_scalar x = plim_array_at(&judge->rows, (uint64_t)a * judge->row_size + i),
                                y = plim_array_at(&judge->rows, (uint64_t)b * judge->row_size + i);
        const int order = compare(is_float, x, y);
        const bool is_nan = is_float && (isnan(x.f) || isnan(y.f));
        if (kind == PLIM_RELATION_ROWS_LESS ? order != 0 : order != 0 || is_nan)
            return kind == PLIM_RELATION_ROWS_LESS ? order < 0 : kind == PLIM_RELATION_ROWS_DIFFER;
    }
    return kind == PLIM_RELATION_ROWS_EQUAL;
}

bool plim_judge_holds(const struct plim_judge *judge, union plim_scalar a, union plim_scalar b)
{
    switch (judge->relation.kind) {
    case PLIM_RELATION_EQUAL:
        return judge->is_float ? a.f == b.f : a.i == b.i;
    case PLIM_RELATION_LESS:
        return is_less(judge, a, b);
    case PLIM_RELATION_GREATER:
        return is_less(judge, b, a);
    case PLIM_RELATION_NONE:
        return false;
    default:
        return is_of_rows(judge, a.i, b.i);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Rows added up where their indices say: index_put with accumulate after a sort (indexing_backward_kernel*,
 * ATen/native/cuda/Indexing.cu) and the gradient of an embedding (embedding_backward_feature_kernel, Embedding.cu).
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/index/move.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct accumulate {
    enum plim_element element, to, indices;
};

/* The largest index + 1, of which no kernel is told; 0: it is a guess. */
static int64_t n_rows_of(const void *indices, enum plim_element element, uint64_t n)
{
    const struct plim_view view = plim_view_flat(indices, element, n);
    struct plim_array array;
    int64_t most = -1;
    if (n == 0 || !plim_view_read(&view, &array))
        return 0;
    for (uint64_t i = 0; i < (array.is_constant ? 1 : n); i++)
        most = plim_array_at(&array, i).i > most ? plim_array_at(&array, i).i : most;
    if (array.known == PLIM_SHADOW_UNKNOWN || most == INT64_MAX)
        most = -1;
    plim_array_free(&array);
    return most + 1;
}

/* A stride in elements; one that is too large is none, whatever it wraps to: a view of it has no span. */
static int64_t bytes_of(void *const *p, unsigned i, unsigned width)
{
    return (int64_t)((uint64_t)plim_int64_at(p, i) * width);
}

static void set_walk(struct plim_view *view, const void *address, const uint64_t size[3], const int64_t strides[3])
{
    view->address = (uint64_t)(uintptr_t)address;
    view->n_dimensions = 3;
    for (unsigned i = 0; i < 3; i++) {
        view->size[i] = (int64_t)size[i];
        view->stride_bytes[i] = strides[i];
    }
}

/* --- <T>(sorted_indices, indices, grad, weight, numel, stride, stride_before, outer_dim, accumulate) --- */

static void *parse_put(struct plim_text name)
{
    struct plim_text arguments, argument;
    struct accumulate *accumulate = calloc(1, sizeof *accumulate);
    if (accumulate &&
        (plim_name_template(name, "indexing_backward_kernel", &arguments) ||
         plim_name_template(name, "indexing_backward_kernel_stride_1", &arguments) ||
         plim_name_template(name, "indexing_backward_kernel_small_stride", &arguments)) &&
        plim_name_argument(arguments, 0, &argument)) {
        accumulate->element = plim_name_element(argument);
        if (accumulate->element != PLIM_ELEMENT_NONE)
            return accumulate;
    }
    free(accumulate);
    return NULL;
}

static void run_put(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct accumulate *accumulate = parsed;
    void *const *p = launch->parameters;
    const unsigned width = plim_element_bytes(accumulate->element);
    const uint64_t n = plim_count_at(p, 4, 8), size[3] = { plim_count_at(p, 5, 8), n, plim_count_at(p, 7, 8) };
    const int64_t row = bytes_of(p, 5, width), outer = bytes_of(p, 6, width);
    const int64_t n_rows = n_rows_of(plim_pointer_at(p, 0), PLIM_ELEMENT_I64, n);
    struct plim_move move;
    if (n_rows == 0) {
        plim_shadow_lose(plim_pointer_at(p, 3));
        return;
    }
    plim_move_make(&move, width);
    move.element = accumulate->element;
    move.operation = plim_flag_at(p, 8) ? PLIM_MOVE_ADD : PLIM_MOVE_ASSIGN;
    set_walk(&move.to, plim_pointer_at(p, 3), size, (const int64_t[]){ width, 0, outer });
    set_walk(&move.from, plim_pointer_at(p, 2), size, (const int64_t[]){ width, 0, (int64_t)(n * (uint64_t)row) });
    set_walk(&move.index, NULL, size, (const int64_t[]){ 0, 8, 0 });
    plim_move_add(&move, (uint64_t)(uintptr_t)plim_pointer_at(p, 0), n_rows, row, false);
    plim_move_add(&move, (uint64_t)(uintptr_t)plim_pointer_at(p, 1), (int64_t)n, row, true);
    plim_move_run(&move);
}

/* --- <T, accumulate type, index type>(indices, grad, grad_weight, int n, int64_t stride, int padding_idx) --- */

static void *parse_embedding(struct plim_text name)
{
    struct plim_text arguments, argument;
    struct accumulate *accumulate = calloc(1, sizeof *accumulate);
    if (accumulate && plim_name_template(name, "embedding_backward_feature_kernel", &arguments) &&
        plim_name_argument(arguments, 0, &argument)) {
        accumulate->element = plim_name_element(argument);
        accumulate->indices =
            plim_name_argument(arguments, 2, &argument) ? plim_name_element(argument) : PLIM_ELEMENT_NONE;
        if (accumulate->element != PLIM_ELEMENT_NONE &&
            (accumulate->indices == PLIM_ELEMENT_I64 || accumulate->indices == PLIM_ELEMENT_I32))
            return accumulate;
    }
    free(accumulate);
    return NULL;
}

static void run_embedding(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct accumulate *accumulate = parsed;
    void *const *p = launch->parameters;
    const unsigned width = plim_element_bytes(accumulate->element), index = plim_element_bytes(accumulate->indices);
    const uint64_t n = plim_count_at(p, 3, 4), size[3] = { plim_count_at(p, 4, 8), n, 1 };
    const int64_t row = bytes_of(p, 4, width);
    const int64_t n_rows = n_rows_of(plim_pointer_at(p, 0), accumulate->indices, n);
    struct plim_move move;
    if (n_rows == 0) {
        plim_shadow_lose(plim_pointer_at(p, 2));
        return;
    }
    plim_move_make(&move, width);
    move.element = accumulate->element;
    move.operation = PLIM_MOVE_ADD;
    move.index_element = accumulate->indices;
    move.has_skip = true;
    move.skip = plim_int32_at(p, 5);
    set_walk(&move.to, plim_pointer_at(p, 2), size, (const int64_t[]){ width, 0, 0 });
    set_walk(&move.from, plim_pointer_at(p, 1), size, (const int64_t[]){ width, row, 0 });
    set_walk(&move.index, NULL, size, (const int64_t[]){ 0, index, 0 });
    plim_move_add(&move, (uint64_t)(uintptr_t)plim_pointer_at(p, 0), n_rows, row, false);
    plim_move_run(&move);
}

const struct plim_kernel_form plim_form_indexing_backward = { "(anonymous namespace)::indexing_backward_kernel",
                                                              parse_put, run_put };
const struct plim_kernel_form plim_form_indexing_backward_one = {
    "(anonymous namespace)::indexing_backward_kernel_stride_1", parse_put, run_put
};
const struct plim_kernel_form plim_form_indexing_backward_small = {
    "(anonymous namespace)::indexing_backward_kernel_small_stride", parse_put, run_put
};
const struct plim_kernel_form plim_form_embedding_backward = {
    "at::native::(anonymous namespace)::embedding_backward_feature_kernel", parse_embedding, run_embedding
};

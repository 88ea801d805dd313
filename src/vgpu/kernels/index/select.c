/* SPDX-License-Identifier: MIT */
/*
 * Rows picked by an index: indexSelectSmallIndex and -LargeIndex (index_select, embedding), indexFuncSmallIndex and
 * -LargeIndex (index_add, index_reduce), both of ATen/native/cuda/Indexing.cu, and vectorized_gather_kernel
 * (IndexKernelUtils.cu, PyTorch 2.8 and newer) with its counterpart, vectorized_scatter_kernel (2.15). The parameters
 * are those of the signatures, in PyTorch 2.5 to 2.15.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/index/move.h"
#include "vgpu/kernels/index/offsets.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct select {
    unsigned width, index_bytes;        /* of an element, and of the type that counts elements */
    enum plim_element element, indices; /* NONE: only moved */
    enum plim_move_operation operation;
};

/* An element of the same size, for views of what is only moved. */
static enum plim_element stand_in(unsigned width)
{
    return width == 1   ? PLIM_ELEMENT_U8
           : width == 2 ? PLIM_ELEMENT_U16
           : width == 4 ? PLIM_ELEMENT_U32
           : width == 8 ? PLIM_ELEMENT_U64
                        : PLIM_ELEMENT_NONE;
}

static bool is_index(enum plim_element element) { return element == PLIM_ELEMENT_I64 || element == PLIM_ELEMENT_I32; }

/* <T, type of the indices, type that counts, ...> */
static bool read_types(struct plim_text arguments, struct select *select)
{
    struct plim_text argument;
    if (!plim_name_argument(arguments, 0, &argument))
        return false;
    select->width = plim_type_bytes(argument);
    select->element = plim_name_element(argument);
    if (!plim_name_argument(arguments, 1, &argument))
        return false;
    select->indices = plim_name_element(argument);
    select->index_bytes =
        plim_name_argument(arguments, 2, &argument) ? plim_element_bytes(plim_name_element(argument)) : 0;
    return stand_in(select->width) != PLIM_ELEMENT_NONE && is_index(select->indices) &&
           (select->index_bytes == 4 || select->index_bytes == 8);
}

static void *parse_select(struct plim_text name)
{
    struct plim_text arguments;
    struct select *select = calloc(1, sizeof *select);
    if (select && plim_name_template(name, "Index", &arguments) && read_types(arguments, select))
        return select;
    free(select);
    return NULL;
}

static void *parse_func(struct plim_text name)
{
    static const struct {
        const char *name;
        enum plim_move_operation operation;
    } operations[] = {
        { "::ReduceAdd>", PLIM_MOVE_ADD },
        { "::ReduceMultiply>", PLIM_MOVE_MULTIPLY },
        { "::ReduceMaximum>", PLIM_MOVE_MAXIMUM },
        { "::ReduceMinimum>", PLIM_MOVE_MINIMUM },
    };
    struct select *select = parse_select(name);
    for (size_t i = 0; select && i < sizeof operations / sizeof *operations; i++)
        if (plim_text_has(name, operations[i].name) && select->element != PLIM_ELEMENT_NONE) {
            select->operation = operations[i].operation;
            return select;
        }
    free(select);
    return NULL;
}

/* One more dimension, the slowest. */
static bool add_dimension(struct plim_view *view, uint64_t size, int64_t stride_bytes)
{
    if (view->n_dimensions == PLIM_VIEW_MAX_DIMENSIONS)
        return false;
    view->size[view->n_dimensions] = (int64_t)size;
    view->stride_bytes[view->n_dimensions++] = stride_bytes;
    return true;
}

/* The stride of a dimension as the kernel numbers it, the slowest first. False: there is no such dimension. */
static bool stride_of(const struct plim_view *view, int32_t dimension, int64_t *ret_stride_bytes)
{
    if (dimension < 0 || (unsigned)dimension >= view->n_dimensions)
        return false;
    *ret_stride_bytes = view->stride_bytes[view->n_dimensions - 1 - (unsigned)dimension];
    return true;
}

/*
 * (dst, src, indices, dim of dst, dim of src, [total size,] inner size, size of the indexed dimension, ...):
 * TensorInfos in which that dimension has the size 1.
 */
static bool read_parameters(const struct select *select, void *const *p, bool is_large, bool selects_source,
                            struct plim_move *move)
{
    const enum plim_element element = stand_in(select->width);
    struct plim_view indices;
    int64_t to_stride, from_stride;
    if (!plim_view_of_info(p[0], element, select->index_bytes, &move->to) ||
        !plim_view_of_info(p[1], element, select->index_bytes, &move->from) ||
        !plim_view_of_info(p[2], select->indices, select->index_bytes, &indices) ||
        !stride_of(&move->to, plim_int32_at(p, 3), &to_stride) ||
        !stride_of(&move->from, plim_int32_at(p, 4), &from_stride))
        return false;
    const uint64_t n = plim_view_n(&indices), n_inner = plim_view_n(&move->to);
    if (n > INT64_MAX || n_inner != plim_count_at(p, is_large ? 6 : 5, select->index_bytes))
        return false;
    move->index = indices;
    move->index.n_dimensions = 0;
    bool is_good = add_dimension(&move->to, n, selects_source ? to_stride : 0) &&
                   add_dimension(&move->from, n, selects_source ? 0 : from_stride) &&
                   add_dimension(&move->index, n_inner, 0);
    for (unsigned i = 0; is_good && i < indices.n_dimensions; i++)
        is_good = add_dimension(&move->index, (uint64_t)indices.size[i], indices.stride_bytes[i]);
    return is_good && plim_move_add(move, indices.address, plim_int64_at(p, is_large ? 7 : 6),
                                    selects_source ? from_stride : to_stride, selects_source);
}

static void apply(const struct select *select, void *const *parameters, bool is_large, bool selects_source)
{
    struct plim_move move;
    plim_move_make(&move, select->width);
    move.element = select->element;
    move.operation = select->operation;
    move.index_element = select->indices;
    if (!selects_source) { /* alpha is the last parameter, of the elements' type */
        move.is_scaled = true;
        move.scale = plim_element_load(select->element, parameters[is_large ? 10 : 9]);
    }
    if (read_parameters(select, parameters, is_large, selects_source, &move))
        plim_move_run(&move);
    else
        plim_shadow_lose(plim_pointer_at(parameters, 0));
}

static void run_select_small(const void *parsed, const struct plim_kernel_launch *launch)
{
    apply(parsed, launch->parameters, false, true);
}

static void run_select_large(const void *parsed, const struct plim_kernel_launch *launch)
{
    apply(parsed, launch->parameters, true, true);
}

static void run_func_small(const void *parsed, const struct plim_kernel_launch *launch)
{
    apply(parsed, launch->parameters, false, false);
}

static void run_func_large(const void *parsed, const struct plim_kernel_launch *launch)
{
    apply(parsed, launch->parameters, true, false);
}

/* --- rows: vectorized_gather_kernel<alignment, type of the indices>, vectorized_scatter_kernel<ScatterAddOp, 16, T,
 * type of the indices> --- */

static void *parse_gather(struct plim_text name)
{
    struct plim_text arguments, argument;
    struct select *select = calloc(1, sizeof *select);
    if (select && plim_name_template(name, "vectorized_gather_kernel", &arguments) &&
        plim_name_argument(arguments, 0, &argument)) {
        const long width = plim_name_number(argument);
        select->width = width > 0 && width <= PLIM_SHADOW_MAX_WIDTH ? (unsigned)width : 0;
        select->indices = plim_name_argument(arguments, 1, &argument) ? plim_name_element(argument) : PLIM_ELEMENT_NONE;
        if (select->width && is_index(select->indices))
            return select;
    }
    free(select);
    return NULL;
}

/* (out, inp, idx, num_ind, slice_size, ind_dim_size, inp_stride, out_stride, allow_neg_indices): sizes in bytes */
static void run_gather(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct select *select = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, 4), n_inner = plim_count_at(p, 4, 8) / select->width;
    struct plim_move move;
    plim_move_make(&move, select->width);
    move.index_element = select->indices;
    move.to.address = (uint64_t)(uintptr_t)plim_pointer_at(p, 0);
    move.from.address = (uint64_t)(uintptr_t)plim_pointer_at(p, 1);
    add_dimension(&move.to, n_inner, select->width);
    add_dimension(&move.to, n, plim_int64_at(p, 7));
    add_dimension(&move.from, n_inner, select->width);
    add_dimension(&move.from, n, 0);
    add_dimension(&move.index, n_inner, 0);
    add_dimension(&move.index, n, plim_element_bytes(select->indices));
    plim_move_add(&move, (uint64_t)(uintptr_t)plim_pointer_at(p, 2), plim_int64_at(p, 5), plim_int64_at(p, 6), true);
    plim_move_run(&move);
}

static void *parse_scatter(struct plim_text name)
{
    struct plim_text arguments, argument;
    struct select *select = calloc(1, sizeof *select);
    if (select && plim_name_template(name, "vectorized_scatter_kernel", &arguments) &&
        plim_name_argument(arguments, 0, &argument) && plim_text_is(argument, "at::native::ScatterAddOp")) {
        select->operation = PLIM_MOVE_ADD;
        select->element = plim_name_argument(arguments, 2, &argument) ? plim_name_element(argument) : PLIM_ELEMENT_NONE;
        select->indices = plim_name_argument(arguments, 3, &argument) ? plim_name_element(argument) : PLIM_ELEMENT_NONE;
        select->width = plim_element_bytes(select->element);
        if (select->width && is_index(select->indices))
            return select;
    }
    free(select);
    return NULL;
}

/*
 * (self, src, idx, number of indices, slice size, size of the indexed dimension, stride of self, stride of src, ...):
 * in bytes, as known arguments show in PyTorch 2.15.0
 */
static void run_scatter(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct select *select = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, 4), n_inner = plim_count_at(p, 4, 8) / select->width;
    struct plim_move move;
    plim_move_make(&move, select->width);
    move.operation = select->operation;
    move.element = select->element;
    move.index_element = select->indices;
    move.to.address = (uint64_t)(uintptr_t)plim_pointer_at(p, 0);
    move.from.address = (uint64_t)(uintptr_t)plim_pointer_at(p, 1);
    add_dimension(&move.to, n_inner, select->width);
    add_dimension(&move.to, n, 0);
    add_dimension(&move.from, n_inner, select->width);
    add_dimension(&move.from, n, plim_int64_at(p, 7));
    add_dimension(&move.index, n_inner, 0);
    add_dimension(&move.index, n, plim_element_bytes(select->indices));
    plim_move_add(&move, (uint64_t)(uintptr_t)plim_pointer_at(p, 2), plim_int64_at(p, 5), plim_int64_at(p, 6), false);
    plim_move_run(&move);
}

const struct plim_kernel_form plim_form_index_select_small = {
    "at::native::(anonymous namespace)::indexSelectSmallIndex", parse_select, run_select_small
};
const struct plim_kernel_form plim_form_index_select_large = {
    "at::native::(anonymous namespace)::indexSelectLargeIndex", parse_select, run_select_large
};
const struct plim_kernel_form plim_form_index_func_small = { "at::native::indexFuncSmallIndex", parse_func,
                                                             run_func_small };
const struct plim_kernel_form plim_form_index_func_large = { "at::native::indexFuncLargeIndex", parse_func,
                                                             run_func_large };
const struct plim_kernel_form plim_form_vectorized_gather = { "at::native::vectorized_gather_kernel", parse_gather,
                                                              run_gather };
const struct plim_kernel_form plim_form_vectorized_scatter = { "at::native::vectorized_scatter_kernel", parse_scatter,
                                                               run_scatter };

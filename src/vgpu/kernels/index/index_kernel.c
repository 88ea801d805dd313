/* SPDX-License-Identifier: MIT */
/*
 * index_elementwise_kernel<threads, per thread, lambda>(int64_t N, lambda): index, index_put, index_fill, index_copy,
 * take, put and flip (ATen/native/cuda/IndexKernel.cu). The lambdas hold what their bodies name, in the order in which
 * they name it: checked with known arguments in PyTorch 2.5.1, 2.10.0 and 2.15.0, which are alike.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/index/move.h"
#include "vgpu/kernels/index/offsets.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

enum kind { INDEX, INDEX_PUT, INDEX_FILL, INDEX_COPY, FLIP, TAKE, PUT, PUT_ADD };

struct index_kernel {
    enum kind kind;
    enum plim_element element; /* NONE: any of this width */
    unsigned width;
    unsigned indexed_bytes; /* of take's and put's index type */
};

static bool kind_of(struct plim_text lambda, struct index_kernel *kernel)
{
    static const struct {
        const char *name, *mark;
        enum kind kind;
    } kinds[] = {
        { "at::native::index_kernel_impl", "gpu_index_kernel<", INDEX },
        { "at::native::index_put_kernel_impl", "gpu_index_kernel<", INDEX_PUT },
        { "at::native::index_fill_kernel_impl", "", INDEX_FILL },
        { "at::native::index_copy_kernel_impl", "", INDEX_COPY },
        { "at::native::flip_kernel_impl", "", FLIP },
        { "at::native::cuda_take_put_kernel", "at::native::take_kernel(", TAKE },
        { "at::native::cuda_take_put_kernel", "at::native::put_kernel(", PUT },
    };
    struct plim_text arguments, type;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!plim_text_has(lambda, kinds[i].mark) || !plim_name_template(lambda, kinds[i].name, &arguments) ||
            !plim_name_argument(arguments, 0, &type))
            continue;
        kernel->kind = kinds[i].kind;
        kernel->width = plim_type_bytes(type);
        kernel->element = plim_name_element(type);
        kernel->indexed_bytes = plim_name_argument(arguments, 1, &type) && plim_text_is(type, "long") ? 8 : 4;
        /* put's lambdas: the first accumulates, the second assigns; both take (scalar_t&, index_t) */
        if (kernel->kind == PUT && plim_name_argument(arguments, 2, &type) && !plim_text_has(type, ")#2}"))
            kernel->kind = PUT_ADD;
        return kernel->width > 0 && (kernel->kind != PUT_ADD || kernel->element != PLIM_ELEMENT_NONE);
    }
    return false;
}

static void *parse(struct plim_text name)
{
    struct plim_text arguments, lambda;
    struct index_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel && plim_name_template(name, "index_elementwise_kernel", &arguments) &&
        plim_name_argument(arguments, 2, &lambda) && kind_of(lambda, kernel))
        return kernel;
    free(kernel);
    return NULL;
}

/* --- what the lambdas hold --- */

enum { OFFSETS_2 = 504, OFFSETS_3 = 608 /* bytes of OffsetCalculator<2> and <3>, to where a pointer follows */ };

/* The walks over the arguments of an OffsetCalculator<n>; -1: there is none. */
static bool walks_of(const void *lambda, unsigned n, int to, int from, int index, struct plim_move *move)
{
    return (to < 0 || plim_walk_of_offsets(lambda, n, (unsigned)to, 4, &move->to)) &&
           (from < 0 || plim_walk_of_offsets(lambda, n, (unsigned)from, 4, &move->from)) &&
           (index < 0 || plim_walk_of_offsets(lambda, n, (unsigned)index, 4, &move->index));
}

/* offset_calc, out_ptr, in_ptr, num_indices, index_ptrs[25], sizes[25], strides[25] */
static bool read_index(const void *lambda, bool is_put, struct plim_move *move)
{
    enum { POINTERS = OFFSETS_3 + 24, SIZES = POINTERS + 200, STRIDES = SIZES + 200 };
    const uint64_t n = plim_word_at(lambda, OFFSETS_3 + 16);
    bool is_good = n <= PLIM_VIEW_MAX_DIMENSIONS && walks_of(lambda, 3, 0, 1, 2, move);
    move->to.address = plim_word_at(lambda, OFFSETS_3);
    move->from.address = plim_word_at(lambda, OFFSETS_3 + 8);
    for (uint64_t i = 0; is_good && i < n; i++)
        is_good =
            plim_move_add(move, plim_word_at(lambda, POINTERS + 8 * i), (int64_t)plim_word_at(lambda, SIZES + 8 * i),
                          (int64_t)plim_word_at(lambda, STRIDES + 8 * i), !is_put);
    return is_good;
}

/* offset_calc, self_ptr, idx_ptr, self_dim_size, self_dim_stride, fill_val */
static bool read_fill(const void *lambda, struct plim_move *move)
{
    move->to.address = plim_word_at(lambda, OFFSETS_2);
    move->is_value = true;
    memcpy(move->value, (const char *)lambda + OFFSETS_2 + 32, move->width);
    return walks_of(lambda, 2, 0, -1, 1, move) &&
           plim_move_add(move, plim_word_at(lambda, OFFSETS_2 + 8), (int64_t)plim_word_at(lambda, OFFSETS_2 + 16),
                         (int64_t)plim_word_at(lambda, OFFSETS_2 + 24) * move->width, false);
}

/* offset_calc, self_ptr, idx_ptr, source_ptr, self_dim_size, self_dim_stride */
static bool read_copy(const void *lambda, struct plim_move *move)
{
    move->to.address = plim_word_at(lambda, OFFSETS_3);
    move->from.address = plim_word_at(lambda, OFFSETS_3 + 16);
    return walks_of(lambda, 3, 0, 2, 1, move) &&
           plim_move_add(move, plim_word_at(lambda, OFFSETS_3 + 8), (int64_t)plim_word_at(lambda, OFFSETS_3 + 24),
                         (int64_t)plim_word_at(lambda, OFFSETS_3 + 32) * move->width, false);
}

/* offset_calc (with signed strides), out_ptr, in_ptr */
static bool read_flip(const void *lambda, struct plim_move *move)
{
    move->to.address = plim_word_at(lambda, OFFSETS_2);
    move->from.address = plim_word_at(lambda, OFFSETS_2 + 8);
    return walks_of(lambda, 2, 0, 1, -1, move);
}

/*
 * offset_calc, iterated_ptr, idx_ptr, numel, is_contiguous, offset_indexed (OffsetCalculator<1, index type>), f, which
 * holds a pointer to the indexed tensor, after numel again if it accumulates.
 */
static bool read_take(const struct index_kernel *kernel, const void *lambda, struct plim_move *move,
                      struct plim_view *shape)
{
    const size_t offsets = OFFSETS_2 + (kernel->indexed_bytes == 8 ? 32 : 28);
    const size_t f = offsets + (kernel->indexed_bytes == 8 ? 408 : 404);
    const uint64_t indexed = plim_word_at(lambda, f + (kernel->kind == PUT_ADD ? 8 : 0));
    const bool is_take = kernel->kind == TAKE;
    const int64_t n = (int64_t)plim_word_at(lambda, OFFSETS_2 + 16);
    struct plim_view *iterated = is_take ? &move->to : &move->from, *other = is_take ? &move->from : &move->to;
    if (!plim_walk_of_offsets(lambda, 2, 0, 4, iterated) || !plim_walk_of_offsets(lambda, 2, 1, 4, &move->index))
        return false;
    *other = *iterated;
    memset(other->stride_bytes, 0, sizeof other->stride_bytes);
    iterated->address = plim_word_at(lambda, OFFSETS_2);
    other->address = indexed;
    if (!((const uint8_t *)lambda)[OFFSETS_2 + 24]) {
        if (!plim_walk_of_offsets((const char *)lambda + offsets, 1, 0, kernel->indexed_bytes, shape) ||
            plim_view_n(shape) != (uint64_t)n)
            return false;
        for (unsigned i = 0; i < shape->n_dimensions; i++)
            shape->stride_bytes[i] *= move->width;
        move->shape = shape;
    }
    move->operation = kernel->kind == PUT_ADD ? PLIM_MOVE_ADD : PLIM_MOVE_ASSIGN;
    return plim_move_add(move, plim_word_at(lambda, OFFSETS_2 + 8), n, move->width, is_take);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct index_kernel *kernel = parsed;
    const void *lambda = launch->parameters[1];
    struct plim_view shape;
    struct plim_move move;
    plim_move_make(&move, kernel->width);
    move.element = kernel->element;
    bool is_good = false;
    switch (kernel->kind) {
    case INDEX:
    case INDEX_PUT:
        is_good = read_index(lambda, kernel->kind == INDEX_PUT, &move);
        break;
    case INDEX_FILL:
        is_good = read_fill(lambda, &move);
        break;
    case INDEX_COPY:
        is_good = read_copy(lambda, &move);
        break;
    case FLIP:
        is_good = read_flip(lambda, &move);
        break;
    case TAKE:
    case PUT:
    case PUT_ADD:
        is_good = read_take(kernel, lambda, &move, &shape);
        break;
    }
    if (is_good && plim_view_n(&move.to) == plim_count_at(launch->parameters, 0, 8))
        plim_move_run(&move);
    else
        plim_shadow_lose((const void *)(uintptr_t)move.to.address);
}

const struct plim_kernel_form plim_form_index_elementwise = { "at::native::index_elementwise_kernel", parse, run };

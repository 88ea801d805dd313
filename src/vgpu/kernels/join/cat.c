/* SPDX-License-Identifier: MIT */
/*
 * cat and what is made of it: CatArrayBatchedCopy<T, unsigned, Dims, inputs, strides>, its contiguous and aligned
 * forms, and CatArrayBatchedCopy_vectorized<..., bytes at once, elements at once> (ATen/native/cuda/Shape.cu; PyTorch
 * 2.5 to 2.15): (output, CatArrInputTensorMetadata, TensorSizeStride, int concatDim, unsigned dimStride). Each row of
 * blocks copies one input.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/index/move.h"
#include "vgpu/kernels/index/offsets.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

enum { MAX_DIMS = 4, MAX_INPUTS = 128 }; /* CAT_ARRAY_MAX_INPUT_DIMS, CAT_ARRAY_BATCH_SIZE */

struct cat {
    bool is_strided, is_vectorized;
    unsigned width, n_at_once; /* bytes and elements of what is copied at once */
    unsigned n_dims, n_inputs, n_strides;
};

static unsigned count_of(struct plim_text arguments, unsigned number)
{
    struct plim_text argument;
    const long count = plim_name_argument(arguments, number, &argument) ? plim_name_number(argument) : 0;
    return count > 0 && count <= MAX_INPUTS ? (unsigned)count : 0;
}

static bool read_name(struct plim_text name, struct cat *cat)
{
    struct plim_text arguments, type, index;
    cat->is_strided = plim_name_template(name, "CatArrayBatchedCopy", &arguments);
    cat->is_vectorized = plim_name_template(name, "CatArrayBatchedCopy_vectorized", &arguments);
    if ((!cat->is_strided && !plim_name_template(name, "_contig", &arguments) && !cat->is_vectorized) ||
        !plim_name_argument(arguments, 0, &type) || !plim_name_argument(arguments, 1, &index))
        return false;
    cat->n_dims = count_of(arguments, 2);
    cat->n_inputs = count_of(arguments, 3);
    cat->n_strides = count_of(arguments, 4);
    cat->n_at_once = cat->is_vectorized ? count_of(arguments, 6) : 1;
    cat->width = plim_type_bytes(type) * cat->n_at_once;
    return plim_text_is(index, "unsigned int") && cat->width > 0 && cat->width <= PLIM_SHADOW_MAX_WIDTH &&
           cat->n_dims >= 1 && cat->n_dims <= MAX_DIMS && cat->n_inputs >= 1 && cat->n_strides >= 1;
}

static void *parse(struct plim_text name)
{
    struct cat *cat = calloc(1, sizeof *cat);
    if (cat && read_name(name, cat))
        return cat;
    free(cat);
    return NULL;
}

struct size_stride {
    uint32_t size[MAX_DIMS], stride[MAX_DIMS];
};

/* The metadata of one input: input[n], offset[n], dimSize[n], nElements[n], isContiguous[n], tensorStride[strides] */
struct input {
    uint64_t address;
    uint32_t offset, size, n;
    bool is_contiguous;
    struct size_stride strides;
};

static void read_input(const struct cat *cat, const char *metadata, unsigned i, struct input *ret_input)
{
    const size_t n = cat->n_inputs;
    const char *offsets = metadata + 8 * n, *flags = offsets + 12 * n, *strides = flags + (n + 3) / 4 * 4;
    memcpy(&ret_input->address, metadata + 8 * i, 8);
    memcpy(&ret_input->offset, offsets + 4 * i, 4);
    memcpy(&ret_input->size, offsets + 4 * (n + i), 4);
    memcpy(&ret_input->n, offsets + 4 * (2 * n + i), 4);
    ret_input->is_contiguous = !cat->is_strided || flags[i] != 0;
    memcpy(&ret_input->strides, strides + (cat->n_strides > 1 ? i : 0) * sizeof ret_input->strides,
           sizeof ret_input->strides);
}

/*
 * CatArrIndexToOffset: the dimension that is joined has the input's size, and the first takes what is left. Without a
 * shape: the elements lie one after the other.
 */
static bool set_walks(const struct cat *cat, const struct size_stride *out, const struct size_stride *in,
                      int32_t dimension, uint32_t size, uint32_t n, struct plim_move *move)
{
    int64_t packed = cat->width;
    move->to.n_dimensions = move->from.n_dimensions = cat->n_dims;
    for (unsigned i = cat->n_dims, k = 0; i-- > 0; k++) {
        const uint32_t own = i == 0 ? n : i == (unsigned)dimension ? size : out->size[i];
        if (own == 0)
            return false;
        move->to.size[k] = move->from.size[k] = own;
        move->to.stride_bytes[k] = (int64_t)out->stride[i] * cat->width;
        move->from.stride_bytes[k] = in ? (int64_t)in->stride[i] * cat->width : packed;
        packed = (int64_t)((uint64_t)packed * own);
        n /= own;
    }
    return true;
}

static void join(const struct cat *cat, void *const *p, const struct input *input)
{
    const uint32_t stride = (uint32_t)plim_int32_at(p, 4), n = input->n / cat->n_at_once;
    /* The vectorized form counts in units of what it copies at once; its last parameter is the trailing size. */
    const uint32_t size = cat->is_vectorized ? input->size * stride / cat->n_at_once : input->size;
    const uint32_t offset = input->offset * stride / cat->n_at_once;
    struct size_stride out;
    struct plim_move move;
    memcpy(&out, p[2], sizeof out);
    plim_move_make(&move, cat->width);
    move.to.address = (uint64_t)(uintptr_t)plim_pointer_at(p, 0) + (uint64_t)offset * cat->width;
    move.from.address = input->address;
    if (set_walks(cat, &out, input->is_contiguous ? NULL : &input->strides, plim_int32_at(p, 3), size, n, &move))
        plim_move_run(&move);
    else
        plim_shadow_lose(plim_pointer_at(p, 0));
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct cat *cat = parsed;
    for (unsigned i = 0; i < launch->grid[1] && i < cat->n_inputs; i++) {
        struct input input;
        read_input(cat, launch->parameters[1], i, &input);
        if (input.n > 0)
            join(cat, launch->parameters, &input);
    }
}

const struct plim_kernel_form plim_form_cat = { "at::native::(anonymous namespace)::CatArrayBatchedCopy", parse, run };
const struct plim_kernel_form plim_form_cat_contig = { "at::native::(anonymous namespace)::CatArrayBatchedCopy_contig",
                                                       parse, run };
const struct plim_kernel_form plim_form_cat_aligned16 = {
    "at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig", parse, run
};
const struct plim_kernel_form plim_form_cat_aligned = {
    "at::native::(anonymous namespace)::CatArrayBatchedCopy_alignedK_contig", parse, run
};
const struct plim_kernel_form plim_form_cat_vectorized = {
    "at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized", parse, run
};

/* SPDX-License-Identifier: MIT */
/*
 * roll_cuda_kernel (ATen/native/cuda/TensorTransformations.cu), compute_cuda_kernel of repeat_interleave
 * (RepeatInterleave.cu), and split_with_sizes_copy of FSDP2 (split_with_sizes_copy_out_contiguous_no_cast_kernel,
 * TensorShape.cu); PyTorch 2.5 to 2.15.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/index/move.h"
#include "vgpu/kernels/index/offsets.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct spread {
    unsigned width;
    enum plim_element element;
};

static void *parse(struct plim_text name)
{
    struct plim_text arguments, type;
    struct spread *spread = calloc(1, sizeof *spread);
    if (spread && plim_name_template(name, "_kernel", &arguments) && plim_name_argument(arguments, 0, &type)) {
        spread->width = plim_type_bytes(type);
        spread->element = plim_name_element(type);
        if (spread->width)
            return spread;
    }
    free(spread);
    return NULL;
}

/* --- (in, out, N, roll_dim, start, size, stride, total_dims) --- */

static void roll_part(const struct spread *spread, void *const *p, int64_t to_row, int64_t from_row, int64_t n_rows)
{
    const int64_t n = plim_int64_at(p, 2), size = plim_int64_at(p, 5), stride = plim_int64_at(p, 6);
    const int64_t row = stride * spread->width, sizes[3] = { stride, n_rows, n / (size * stride) };
    struct plim_move move;
    plim_move_make(&move, spread->width);
    move.to.address = (uint64_t)(uintptr_t)plim_pointer_at(p, 1) + (uint64_t)(to_row * row);
    move.from.address = (uint64_t)(uintptr_t)plim_pointer_at(p, 0) + (uint64_t)(from_row * row);
    move.to.n_dimensions = 3;
    memcpy(move.to.size, sizes, sizeof sizes);
    memcpy(move.to.stride_bytes, (const int64_t[]){ spread->width, row, size * row }, sizeof sizes);
    move.from = (struct plim_view){ .address = move.from.address, .n_dimensions = 3 };
    memcpy(move.from.size, move.to.size, sizeof sizes);
    memcpy(move.from.stride_bytes, move.to.stride_bytes, sizeof sizes);
    plim_move_run(&move);
}

static void run_roll(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const int64_t n = plim_int64_at(p, 2), start = plim_int64_at(p, 4), size = plim_int64_at(p, 5);
    int64_t block;
    if (size <= 0 || start < 0 || start > size || __builtin_mul_overflow(size, plim_int64_at(p, 6), &block) ||
        block <= 0 || n % block) {
        plim_shadow_lose(plim_pointer_at(p, 1));
        return;
    }
    roll_part(parsed, p, 0, start, size - start);
    roll_part(parsed, p, size - start, 0, start);
}

/* --- (repeats, their running sum, result, size, result_size) --- */

static void run_repeat(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct spread *spread = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, 8), n_results = plim_count_at(p, 4, 8);
    const struct plim_view result = plim_view_flat(plim_pointer_at(p, 2), spread->element, n_results);
    const struct plim_view repeats = plim_view_flat(plim_pointer_at(p, 0), spread->element, n);
    const struct plim_view sums = plim_view_flat(plim_pointer_at(p, 1), PLIM_ELEMENT_I64, n);
    struct plim_array repeat = { 0 }, sum = { 0 }, out = { 0 };
    uint64_t n_written = 0; /* the ranges of results do not overlap, or something is wrong */
    bool is_good = n <= PLIM_VIEW_MAX_ELEMENTS && plim_view_read(&repeats, &repeat) && plim_view_read(&sums, &sum) &&
                   plim_array_make(&out, spread->element, n_results, false);
    for (uint64_t i = 0; is_good && i < n; i++) {
        const int64_t end = plim_array_at(&sum, i).i,
                      from = (int64_t)((uint64_t)end - (uint64_t)plim_array_at(&repeat, i).i);
        for (int64_t k = from < 0 ? 0 : from; k < end && (uint64_t)k < n_results && n_written++ <= n_results; k++)
            out.number[k].i = (int64_t)i;
        is_good = n_written <= n_results;
    }
    if (is_good) {
        out.known = plim_less_known(repeat.known, sum.known);
        plim_view_write(&result, &out);
    } else {
        plim_view_forget(&result);
    }
    plim_array_free(&repeat);
    plim_array_free(&sum);
    plim_array_free(&out);
}

/* --- (dst addresses, src addresses, chunk sizes, split of each block, ..., src_stride, num_chunks) in bytes --- */

enum { MAX_SPLITS = 1 << 16, MAX_COPIES = 1 << 16, MAX_BLOCKS = 1 << 20 };

static void *parse_split(struct plim_text name)
{
    (void)name;
    return calloc(1, sizeof(struct spread));
}

static uint64_t table_at(const void *table, uint64_t i, enum plim_shadow_known *known)
{
    uint64_t word = 0;
    *known = plim_less_known(*known, plim_shadow_read(&word, (const char *)table + 8 * i, sizeof word));
    return word;
}

/*
 * The tables were copied from the host: if they are not known, or there is too much of it, nothing is known of where it
 * writes.
 */
static void run_split(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    const uint64_t stride = plim_count_at(p, 5, 8), n_chunks = plim_count_at(p, 6, 8);
    (void)parsed;
    uint64_t next = 0, n_copies = 0;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    unsigned block = 0;
    for (; block < launch->grid[0]; block++) {
        const uint64_t split = table_at(plim_pointer_at(p, 3), block, &known);
        if (known != PLIM_SHADOW_KNOWN || block == MAX_BLOCKS || split >= MAX_SPLITS || n_copies > MAX_COPIES)
            break;
        if (split < next)
            continue;
        const uint64_t to = table_at(plim_pointer_at(p, 0), split, &known);
        const uint64_t from = table_at(plim_pointer_at(p, 1), split, &known);
        const uint64_t size = table_at(plim_pointer_at(p, 2), split, &known);
        next = split + 1;
        for (uint64_t i = 0; i < n_chunks && known == PLIM_SHADOW_KNOWN && n_copies++ < MAX_COPIES; i++)
            if (plim_view_is_memory((const void *)(uintptr_t)to))
                plim_shadow_move((void *)(uintptr_t)(to + i * size), (const void *)(uintptr_t)(from + i * stride),
                                 size);
    }
    if (known != PLIM_SHADOW_KNOWN || block < launch->grid[0] || n_copies > MAX_COPIES)
        plim_shadow_doubt_all();
}

const struct plim_kernel_form plim_form_roll = { "at::native::roll_cuda_kernel", parse, run_roll };
const struct plim_kernel_form plim_form_repeat = { "compute_cuda_kernel", parse, run_repeat };
const struct plim_kernel_form plim_form_split = {
    "at::native::detail::split_with_sizes_copy_out_contiguous_no_cast_kernel", parse_split, run_split
};

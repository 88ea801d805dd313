/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/foreach/lists.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * The capacity of the arrays: it follows the limit of a launch's parameters, which is 4 KiB, and 32 KiB with CUDA 13 in
 * PyTorch 2.15. The name of a kernel does not say which. The contents do: the blocks of a launch go through the chunks
 * of the tensors one after the other. If both make sense, what was unmistakable before decides.
 */
struct capacity {
    uint16_t n_tensors[PLIM_LISTS_MAX_DEPTH], n_tensors_with_scalars[PLIM_LISTS_MAX_DEPTH];
    uint16_t n_blocks;
    uint8_t block_index_bytes;
};

enum { SMALL, LARGE, N_CAPACITIES };

static const struct capacity capacities[N_CAPACITIES] = {
    { { 110, 64, 48, 36, 30 }, { 96, 64, 48, 36, 30 }, 320, 1 },           /* 2.5.1, 2.10.0 */
    { { 770, 448, 336, 252, 210 }, { 672, 448, 336, 252, 210 }, 2240, 2 }, /* 2.15.0 */
};

/* The places of the arrays in the metadata. */
struct layout {
    const struct plim_lists *lists;
    const uint8_t *base;
    unsigned n_tensors, n_blocks, block_index_bytes;
    size_t sizes, scalars, block_to_tensor, block_to_chunk, first_tensor;
};

static struct layout layout_of(const struct plim_lists *lists, const struct capacity *capacity, const void *base)
{
    struct layout layout = { .lists = lists, .base = base };
    const unsigned i = lists->depth - 1;
    layout.n_tensors = lists->kind == PLIM_LISTS_SCALARS ? capacity->n_tensors_with_scalars[i] : capacity->n_tensors[i];
    layout.n_blocks = capacity->n_blocks;
    layout.block_index_bytes = capacity->block_index_bytes;
    layout.sizes = (size_t)8 * lists->depth * layout.n_tensors;
    layout.scalars = layout.sizes + (size_t)8 * layout.n_tensors;
    layout.block_to_tensor = layout.scalars + (lists->kind == PLIM_LISTS_SCALARS     ? lists->scalar_bytes
                                               : lists->kind == PLIM_LISTS_OPTIMIZER ? 8
                                                                                     : 0) *
                                                  (size_t)layout.n_tensors;
    layout.block_to_chunk = (layout.block_to_tensor + (size_t)layout.n_blocks * layout.block_index_bytes + 3) / 4 * 4;
    layout.first_tensor = layout.block_to_chunk + (size_t)4 * layout.n_blocks;
    return layout;
}

static unsigned tensor_of(const struct layout *layout, unsigned block)
{
    const uint8_t *at = layout->base + layout->block_to_tensor + (size_t)block * layout->block_index_bytes;
    uint16_t wide;
    memcpy(&wide, at, layout->block_index_bytes);
    return layout->block_index_bytes == 1 ? *at : wide;
}

static int32_t chunk_of(const struct layout *layout, unsigned block)
{
    int32_t chunk;
    memcpy(&chunk, layout->base + layout->block_to_chunk + (size_t)4 * block, sizeof chunk);
    return chunk;
}

static int64_t size_of(const struct layout *layout, unsigned tensor)
{
    int64_t size;
    memcpy(&size, layout->base + layout->sizes + (size_t)8 * tensor, sizeof size);
    return size;
}

static int64_t n_chunks_of(int64_t n) { return (n - 1) / PLIM_LISTS_CHUNK_ELEMENTS + 1; }

/* The block behind the last one of the tensor that this block works on. */
static unsigned end_of(const struct layout *layout, unsigned block, unsigned n_blocks)
{
    const int64_t left = n_chunks_of(size_of(layout, tensor_of(layout, block))) - chunk_of(layout, block);
    return left < (int64_t)(n_blocks - block) ? block + (unsigned)left : n_blocks;
}

/* Whether the tensors and their chunks follow each other; only a launch may begin within a tensor. */
static bool is_consistent(const struct layout *layout, unsigned n_blocks)
{
    unsigned tensor = 0;
    if (n_blocks == 0 || n_blocks > layout->n_blocks)
        return false;
    for (unsigned block = 0, end; block < n_blocks; block = end, tensor++) {
        const int64_t first = chunk_of(layout, block);
        if (tensor >= layout->n_tensors || tensor_of(layout, block) != tensor || first < 0 ||
            (block > 0 && first > 0) || size_of(layout, tensor) <= 0 || first >= n_chunks_of(size_of(layout, tensor)))
            return false;
        end = end_of(layout, block, n_blocks);
        if (tensor_of(layout, end - 1) != tensor || chunk_of(layout, end - 1) != first + (end - 1 - block))
            return false;
    }
    return true;
}

/* Whether the tensors are in device memory, and only a full launch breaks off within one. */
static bool is_plausible(const struct layout *layout, unsigned n_blocks)
{
    const unsigned last = tensor_of(layout, n_blocks - 1);
    for (unsigned tensor = 0; tensor <= last; tensor++) {
        const uint8_t *address;
        memcpy(&address, layout->base + (size_t)8 * tensor, sizeof address);
        if (!plim_view_is_memory(address) || !plim_view_is_memory(address + size_of(layout, tensor) - 1))
            return false;
    }
    return n_blocks == layout->n_blocks || chunk_of(layout, n_blocks - 1) + 1 == n_chunks_of(size_of(layout, last));
}

/*
 * The parameters may lie near the end of the stack: what would be a larger one may reach beyond it. A byte of each page
 * is read.
 */
static bool is_readable(const struct layout *layout)
{
    enum { PAGE = 4096, MAX_PAGES = 16 };
    uint8_t bytes[MAX_PAGES];
    struct iovec there[MAX_PAGES];
    const uintptr_t end = (uintptr_t)layout->base + layout->first_tensor + sizeof(int32_t);
    unsigned n = 0;
    for (uintptr_t at = (uintptr_t)layout->base; at < end && n < MAX_PAGES; at = (at / PAGE + 1) * PAGE)
        there[n++] = (struct iovec){ (void *)at, 1 };
    const struct iovec here = { bytes, n };
    return process_vm_readv(getpid(), &here, 1, there, n, 0) == (ssize_t)n;
}

static bool choose(const struct plim_lists *lists, const struct plim_kernel_launch *launch, struct layout *ret_layout)
{
    static _Atomic int seen = -1;
    struct layout layouts[N_CAPACITIES];
    bool is_good[N_CAPACITIES] = { false };
    const unsigned n_blocks = launch->grid[0];
    const int before = lists->may_be_large ? atomic_load(&seen) : SMALL;
    for (int i = SMALL; i < N_CAPACITIES; i++) {
        layouts[i] = layout_of(lists, &capacities[i], launch->parameters[0]);
        is_good[i] = (before < 0 || i == before) && (i == SMALL || i == before || is_readable(&layouts[i])) &&
                     is_consistent(&layouts[i], n_blocks) && is_plausible(&layouts[i], n_blocks);
    }
    if (!is_good[SMALL] && !is_good[LARGE])
        return false;
    const int choice = is_good[LARGE] ? LARGE : SMALL;
    if (before < 0 && is_good[SMALL] != is_good[LARGE] && n_blocks > 1)
        atomic_store(&seen, choice);
    *ret_layout = layouts[choice];
    return true;
}

static void read_part(const struct layout *layout, unsigned block, unsigned n_chunks, struct plim_lists_part *ret)
{
    const unsigned tensor = tensor_of(layout, block);
    const uint64_t size = (uint64_t)size_of(layout, tensor);
    int32_t first_tensor = 0;
    if (layout->lists->kind != PLIM_LISTS_SCALARS)
        memcpy(&first_tensor, layout->base + layout->first_tensor, sizeof first_tensor);
    ret->tensor = tensor + (first_tensor > 0 ? (unsigned)first_tensor : 0);
    ret->first_chunk = (unsigned)chunk_of(layout, block);
    ret->n_chunks = n_chunks;
    ret->first = (uint64_t)ret->first_chunk * PLIM_LISTS_CHUNK_ELEMENTS;
    const uint64_t end = ret->first + (uint64_t)n_chunks * PLIM_LISTS_CHUNK_ELEMENTS;
    ret->n = (end < size ? end : size) - ret->first;
    ret->scalar = layout->base + layout->scalars + (size_t)layout->lists->scalar_bytes * tensor;
    for (unsigned i = 0; i < layout->lists->depth; i++)
        memcpy(&ret->address[i], layout->base + (size_t)8 * (i * layout->n_tensors + tensor), sizeof ret->address[i]);
}

bool plim_lists_parse(struct plim_text metadata, struct plim_lists *ret_lists)
{
    struct plim_text arguments, depth, scalar;
    ret_lists->scalar_bytes = 0;
    if (plim_name_template(metadata, "FusedOptimizerTensorListMetadata", &arguments))
        ret_lists->kind = PLIM_LISTS_OPTIMIZER;
    else if (plim_name_template(metadata, "TensorListScalarListMetadata", &arguments))
        ret_lists->kind = PLIM_LISTS_SCALARS;
    else if (plim_name_template(metadata, "TensorListMetadata", &arguments))
        ret_lists->kind = PLIM_LISTS_PLAIN;
    else
        return false;
    if (!plim_name_argument(arguments, ret_lists->kind == PLIM_LISTS_SCALARS, &depth))
        return false;
    if (ret_lists->kind == PLIM_LISTS_SCALARS) {
        plim_name_argument(arguments, 0, &scalar);
        ret_lists->scalar_bytes = plim_element_bytes(plim_name_element(scalar));
        if (ret_lists->scalar_bytes == 0) /* complex */
            return false;
    }
    ret_lists->may_be_large = dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD) != NULL;
    const long n = plim_name_number(depth);
    ret_lists->depth = n > 0 && n <= PLIM_LISTS_MAX_DEPTH ? (unsigned)n : 0;
    return ret_lists->depth > 0;
}

bool plim_lists_each(const struct plim_lists *lists, const struct plim_kernel_launch *launch, plim_lists_visit *visit,
                     void *context)
{
    struct layout layout;
    const unsigned n_blocks = launch->grid[0];
    if (!choose(lists, launch, &layout))
        return false;
    for (unsigned block = 0, end; block < n_blocks; block = end) {
        struct plim_lists_part part;
        end = end_of(&layout, block, n_blocks);
        read_part(&layout, block, end - block, &part);
        visit(context, &part);
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Segments from cudaMalloc, and the three ways in which free memory goes back to the driver. */
#include "engine/torch/allocator_state.h"

/* The driver gives memory in pages of 2 MiB. */
static const uint64_t driver_page_bytes = 2 * PLIM_MIB;

uint32_t plim_torch_segment_new(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes)
{
    const uint64_t taken = plim_align_up(bytes, driver_page_bytes);
    if (taken > a->setup.capacity_bytes || a->result.reserved_bytes > a->setup.capacity_bytes - taken)
        return 0;
    uint64_t address = a->next_address;
    a->next_address += taken;
    if (a->n_addresses_used < a->setup.n_addresses)
        address = a->setup.addresses[a->n_addresses_used++];
    const uint32_t block = plim_torch_block_new(a, heap, 0, address, bytes);
    if (block)
        plim_torch_reserve(a, block, PLIM_TORCH_ALLOC, address, bytes);
    return block;
}

/* A whole free segment. */
static void release_segment(struct plim_torch_allocator *a, uint32_t block)
{
    const struct plim_torch_block *b = plim_torch_block(a, block);
    plim_torch_block_pull(a, block);
    plim_torch_reserve(a, block, PLIM_TORCH_FREE, b->address, b->bytes);
    plim_torch_block_drop(a, block);
}

static bool is_whole_segment(const struct plim_torch_block *block)
{
    return !block->range && !plim_torch_is_split(block);
}

static void release_segments(struct plim_torch_allocator *a, struct plim_torch_heap *heap)
{
    struct plim_free_set *set = &heap->free;
    for (uint32_t block = plim_free_set_from(set, a->blocks, 0, 0), next; block; block = next) {
        next = plim_free_set_next(set, a->blocks, block);
        if (is_whole_segment(plim_torch_block(a, block)))
            release_segment(a, block);
    }
}

/* Unmapping a block leaves smaller free ones, which come earlier and have no whole page: none is met twice. */
static void unmap_pages(struct plim_torch_allocator *a, struct plim_torch_heap *heap)
{
    struct plim_free_set *set = &heap->free;
    for (uint32_t block = plim_free_set_from(set, a->blocks, 0, 0); block;) {
        const struct plim_torch_block b = *plim_torch_block(a, block);
        if (b.range)
            plim_torch_unmap(a, block);
        block = plim_free_set_from(set, a->blocks, b.bytes, b.address + 1);
    }
}

static void release_heaps(struct plim_torch_allocator *a, uint16_t pool, bool is_small)
{
    for (uint16_t stream = 0; stream < a->setup.n_streams; stream++)
        release_segments(a, plim_torch_heap(a, pool, is_small, stream));
    for (uint16_t stream = 0; stream < a->setup.n_streams; stream++)
        unmap_pages(a, plim_torch_heap(a, pool, is_small, stream));
}

/* Wait for the other streams: what was given back is free. */
static void settle(struct plim_torch_allocator *a, const uint16_t *pool)
{
    for (uint32_t id = 0; id < a->setup.n_ids && a->n_pending; id++) {
        const uint32_t block = a->held[id];
        if (!block || plim_torch_block(a, block)->use != PLIM_TORCH_PENDING_BLOCK)
            continue;
        if (pool && a->heaps[plim_torch_block(a, block)->heap].pool != *pool)
            continue;
        a->held[id] = 0;
        plim_torch_become_free(a, block);
    }
}

void plim_torch_release_all(struct plim_torch_allocator *a)
{
    settle(a, NULL);
    release_heaps(a, 0, false);
    release_heaps(a, 0, true);
    for (uint16_t pool = 1; pool < a->setup.n_pools; pool++) {
        if (!a->is_released[pool])
            continue;
        release_heaps(a, pool, true);
        release_heaps(a, pool, false);
    }
}

void plim_torch_release_pool(struct plim_torch_allocator *a, uint16_t pool)
{
    settle(a, &pool);
    release_heaps(a, pool, true);
    release_heaps(a, pool, false);
}

/* --- garbage collection: of the large blocks of pool 0, those that nobody wanted for longest --- */

struct ages {
    uint64_t sum, n;
};

static uint32_t age_of(const struct plim_torch_allocator *a, const struct plim_torch_block *block)
{
    return a->n_searches[0] - block->born; /* [pool 0][large] */
}

static struct ages count_ages(struct plim_torch_allocator *a)
{
    struct ages ages = { 0, 0 };
    for (uint16_t stream = 0; stream < a->setup.n_streams; stream++) {
        const struct plim_free_set *set = &plim_torch_heap(a, 0, false, stream)->free;
        for (uint32_t block = plim_free_set_from(set, a->blocks, 0, 0); block;
             block = plim_free_set_next(set, a->blocks, block)) {
            const struct plim_torch_block *b = plim_torch_block(a, block);
            if (is_whole_segment(b)) {
                ages.sum += age_of(a, b);
                ages.n++;
            }
        }
    }
    return ages;
}

/* Release all that are as old as the average or older; returns the bytes. */
static uint64_t collect_old(struct plim_torch_allocator *a, struct ages *ages)
{
    const double oldest = (double)ages->sum / (double)ages->n;
    uint64_t released = 0;
    for (uint16_t stream = 0; stream < a->setup.n_streams; stream++) {
        const struct plim_free_set *set = &plim_torch_heap(a, 0, false, stream)->free;
        for (uint32_t block = plim_free_set_from(set, a->blocks, 0, 0), next; block; block = next) {
            const struct plim_torch_block *b = plim_torch_block(a, block);
            next = plim_free_set_next(set, a->blocks, block);
            if (!is_whole_segment(b) || (double)age_of(a, b) < oldest)
                continue;
            released += b->bytes;
            ages->sum -= age_of(a, b);
            ages->n--;
            release_segment(a, block);
        }
    }
    return released;
}

void plim_torch_collect_garbage(struct plim_torch_allocator *a)
{
    const uint64_t threshold = (uint64_t)(a->setup.settings.gc_threshold * (double)a->limit_bytes);
    if (a->result.reserved_bytes <= threshold)
        return;
    const uint64_t target = a->result.reserved_bytes - threshold;
    struct ages ages = count_ages(a);
    uint64_t sum = 0, released = 1;
    while (ages.n > 0 && sum < target && released > 0) {
        released = collect_old(a, &ages);
        sum += released;
    }
}

/* --- with max_split_size_mb: blocks that are too large to split --- */

bool plim_torch_release_available(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes)
{
    const uint64_t max_split = a->setup.settings.max_split_bytes;
    const struct plim_free_set *set = &a->heaps[heap].free;
    const uint64_t wanted = bytes < max_split ? max_split : bytes;
    uint64_t released = 0;
    if (max_split == UINT64_MAX)
        return false;
    const uint32_t enough = plim_free_set_from(set, a->blocks, wanted, 0);
    if (enough && is_whole_segment(plim_torch_block(a, enough))) {
        release_segment(a, enough);
        return true;
    }
    /* None is large enough: several, the largest first. */
    for (uint32_t block = plim_free_set_back(set, a->blocks, enough), before; block && released < wanted;
         block = before) {
        const struct plim_torch_block *b = plim_torch_block(a, block);
        if (b->bytes < max_split)
            break;
        before = plim_free_set_back(set, a->blocks, block);
        if (!is_whole_segment(b))
            continue;
        released += b->bytes;
        release_segment(a, block);
    }
    return released >= wanted;
}

/* SPDX-License-Identifier: MIT */
#include "engine/torch/allocator_state.h"

#include "base/mem.h"

static bool grow(struct plim_torch_allocator *a)
{
    const uint32_t room = a->room < UINT32_MAX / 2 ? 2 * a->room : 0;
    struct plim_torch_block *blocks = room ? plim_realloc(a->blocks, room, sizeof *blocks) : NULL;
    if (!blocks)
        return false;
    a->blocks = blocks;
    a->room = room;
    return true;
}

uint32_t plim_torch_block_new(struct plim_torch_allocator *a, uint32_t heap, uint32_t range, uint64_t address,
                              uint64_t bytes)
{
    uint32_t block = a->unused;
    if (block)
        a->unused = a->blocks[block].prev;
    else if (a->n_blocks < a->room || grow(a))
        block = a->n_blocks++;
    else
        a->is_broken = true;
    if (block)
        a->blocks[block] = (struct plim_torch_block){
            .address = address, .bytes = bytes, .heap = heap, .range = range, .use = PLIM_TORCH_HELD_BLOCK
        };
    return block;
}

void plim_torch_block_drop(struct plim_torch_allocator *a, uint32_t block)
{
    a->blocks[block].prev = a->unused;
    a->unused = block;
}

void plim_torch_block_link(struct plim_torch_allocator *a, uint32_t block, uint32_t behind)
{
    struct plim_torch_block *left = plim_torch_block(a, block), *right = plim_torch_block(a, behind);
    right->prev = block;
    right->next = left->next;
    if (left->next)
        plim_torch_block(a, left->next)->prev = behind;
    left->next = behind;
}

/* PyTorch's "inactive split": free blocks of segments from cudaMalloc that are not the whole segment. */
static bool is_inactive_split(const struct plim_torch_block *block)
{
    return !block->range && plim_torch_is_split(block);
}

void plim_torch_block_put(struct plim_torch_allocator *a, uint32_t block, enum plim_torch_use use)
{
    struct plim_torch_block *b = plim_torch_block(a, block);
    struct plim_torch_heap *heap = &a->heaps[b->heap];
    b->use = use;
    if (use == PLIM_TORCH_UNMAPPED) {
        a->is_broken |= !plim_free_set_add(&heap->unmapped, a->blocks, block);
        return;
    }
    b->born = a->n_searches[(size_t)heap->pool * 2 + heap->is_small];
    a->is_broken |= !plim_free_set_add(&heap->free, a->blocks, block);
    if (is_inactive_split(b))
        a->result.inactive_split_bytes += b->bytes;
}

void plim_torch_block_pull(struct plim_torch_allocator *a, uint32_t block)
{
    struct plim_torch_block *b = plim_torch_block(a, block);
    struct plim_torch_heap *heap = &a->heaps[b->heap];
    if (b->use == PLIM_TORCH_UNMAPPED) {
        plim_free_set_remove(&heap->unmapped, a->blocks, block);
        return;
    }
    plim_free_set_remove(&heap->free, a->blocks, block);
    if (is_inactive_split(b))
        a->result.inactive_split_bytes -= b->bytes;
}

void plim_torch_block_merge(struct plim_torch_allocator *a, uint32_t block, enum plim_torch_use use)
{
    struct plim_torch_block *b = plim_torch_block(a, block);
    const uint32_t prev = b->prev, next = b->next;
    if (prev && plim_torch_block(a, prev)->use == use) {
        const struct plim_torch_block *left = plim_torch_block(a, prev);
        plim_torch_block_pull(a, prev);
        b->address = left->address;
        b->bytes += left->bytes;
        b->prev = left->prev;
        if (b->prev)
            plim_torch_block(a, b->prev)->next = block;
        plim_torch_block_drop(a, prev);
    }
    if (next && plim_torch_block(a, next)->use == use) {
        const struct plim_torch_block *right = plim_torch_block(a, next);
        plim_torch_block_pull(a, next);
        b->bytes += right->bytes;
        b->next = right->next;
        if (b->next)
            plim_torch_block(a, b->next)->prev = block;
        plim_torch_block_drop(a, next);
    }
}

void plim_torch_reserve(struct plim_torch_allocator *a, uint32_t block, enum plim_torch_action action, uint64_t address,
                        uint64_t bytes)
{
    struct plim_torch_result *result = &a->result;
    const struct plim_torch_heap *heap = &a->heaps[plim_torch_block(a, block)->heap];
    if (action == PLIM_TORCH_ALLOC || action == PLIM_TORCH_MAP)
        result->reserved_bytes += bytes;
    else
        result->reserved_bytes -= bytes;
    if (result->reserved_bytes > result->reserved_peak_bytes) {
        result->reserved_peak_bytes = result->reserved_bytes;
        result->reserved_peak_at = a->at;
    }
    if (a->setup.watch)
        a->setup.watch(a->setup.watcher,
                       &(struct plim_torch_change){ action, address, bytes, heap->stream, heap->pool });
}

void plim_torch_note_peaks(struct plim_torch_allocator *a)
{
    struct plim_torch_result *result = &a->result;
    if (result->allocated_bytes > result->allocated_peak_bytes) {
        result->allocated_peak_bytes = result->allocated_bytes;
        result->allocated_peak_at = a->at;
    }
    if (result->allocated_bytes + result->inactive_split_bytes > result->bound_peak_bytes) {
        result->bound_peak_bytes = result->allocated_bytes + result->inactive_split_bytes;
        result->bound_peak_at = a->at;
    }
    if (result->requested_bytes > result->requested_peak_bytes)
        result->requested_peak_bytes = result->requested_bytes;
    if (result->inactive_split_bytes > result->inactive_split_peak_bytes)
        result->inactive_split_peak_bytes = result->inactive_split_bytes;
}

void plim_torch_become_free(struct plim_torch_allocator *a, uint32_t block)
{
    struct plim_torch_block *b = plim_torch_block(a, block);
    if (b->use == PLIM_TORCH_PENDING_BLOCK)
        a->n_pending--;
    a->result.requested_bytes -= b->requested_bytes;
    plim_torch_block_merge(a, block, PLIM_TORCH_FREE_BLOCK);
    plim_torch_block_put(a, block, PLIM_TORCH_FREE_BLOCK);
    plim_torch_note_peaks(a);
}

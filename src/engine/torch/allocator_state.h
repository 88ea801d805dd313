/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_ALLOCATOR_STATE_H
#define PLIMSOLL_ENGINE_TORCH_ALLOCATOR_STATE_H

/*
 * The state of the allocator, for its own files. What memory could not be had for is remembered in is_broken and told
 * once, by the caller of run().
 */

#include "engine/torch/allocator.h"
#include "engine/torch/block.h"
#include "engine/torch/free_set.h"

/* The free blocks of one size class of one stream in one pool. */
struct plim_torch_heap {
    struct plim_free_set free, unmapped;
    uint16_t stream, pool;
    bool is_small;
};

/* The address range of an expandable segment. */
struct plim_torch_range {
    uint64_t address, bytes, page_bytes;
};

struct plim_torch_allocator {
    struct plim_torch_setup setup;
    struct plim_torch_result result;
    uint64_t limit_bytes; /* of the memory fraction; UINT64_MAX: none */

    struct plim_torch_block *blocks;
    uint32_t n_blocks, room, unused;
    struct plim_torch_heap *heaps; /* [pool][small, large][stream] */
    uint32_t *n_searches;          /* [pool][small, large] */
    bool *is_released;             /* [pool] */
    struct plim_torch_range *ranges;
    uint32_t n_ranges, ranges_room;
    uint32_t *held; /* [id]: its block */

    uint64_t next_address, next_range_address;
    size_t n_addresses_used;
    size_t at;          /* the number of the event */
    uint32_t n_pending; /* blocks that other streams still use */
    bool is_broken;
};

/* --- blocks (allocator_blocks.c) --- */

static inline struct plim_torch_block *plim_torch_block(struct plim_torch_allocator *a, uint32_t block)
{
    return &a->blocks[block];
}

static inline struct plim_torch_heap *plim_torch_heap(struct plim_torch_allocator *a, uint16_t pool, bool is_small,
                                                      uint16_t stream)
{
    return &a->heaps[((size_t)pool * 2 + is_small) * a->setup.n_streams + stream];
}

static inline bool plim_torch_is_split(const struct plim_torch_block *block) { return block->prev || block->next; }

/* A block that copies the place of `like` in its heap and segment; 0 when memory ran out. */
uint32_t plim_torch_block_new(struct plim_torch_allocator *a, uint32_t heap, uint32_t range, uint64_t address,
                              uint64_t bytes);
void plim_torch_block_drop(struct plim_torch_allocator *a, uint32_t block);
/* Put a new block behind `block` in its segment. */
void plim_torch_block_link(struct plim_torch_allocator *a, uint32_t block, uint32_t behind);
/* Into, and out of, the set of free or unmapped blocks. */
void plim_torch_block_put(struct plim_torch_allocator *a, uint32_t block, enum plim_torch_use use);
void plim_torch_block_pull(struct plim_torch_allocator *a, uint32_t block);
/* Merge with the neighbours that are in the same state; the block itself is in no set. */
void plim_torch_block_merge(struct plim_torch_allocator *a, uint32_t block, enum plim_torch_use use);

void plim_torch_reserve(struct plim_torch_allocator *a, uint32_t block, enum plim_torch_action action, uint64_t address,
                        uint64_t bytes);

/* A block that nobody uses any more. */
void plim_torch_become_free(struct plim_torch_allocator *a, uint32_t block);
void plim_torch_note_peaks(struct plim_torch_allocator *a);

/* --- segments from cudaMalloc (allocator_release.c) --- */

uint32_t plim_torch_segment_new(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes);
void plim_torch_collect_garbage(struct plim_torch_allocator *a);
bool plim_torch_release_available(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes);
/* Give the driver back what is free: pool 0 and the pools that are released, or one released pool. */
void plim_torch_release_all(struct plim_torch_allocator *a);
void plim_torch_release_pool(struct plim_torch_allocator *a, uint16_t pool);

/* --- expandable segments (allocator_expandable.c) --- */

/* A free block of at least `bytes`, in no set, made by mapping pages; 0 when the card is full. */
uint32_t plim_torch_expand(struct plim_torch_allocator *a, uint32_t heap, uint64_t bytes);
/* Unmap the whole pages inside a free block. */
void plim_torch_unmap(struct plim_torch_allocator *a, uint32_t block);
/* The unmapped block in which a mapped range is to be adopted, cut so that it begins there; 0 when memory ran out. */
uint32_t plim_torch_range_at(struct plim_torch_allocator *a, uint32_t heap, uint64_t address, uint64_t bytes);

#endif

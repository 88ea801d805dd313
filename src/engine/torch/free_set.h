/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_FREE_SET_H
#define PLIMSOLL_ENGINE_TORCH_FREE_SET_H

/*
 * Free blocks in the order (size, address): the order in which PyTorch's allocator looks for the best fit. Each bin, a
 * sixteenth of a power of two, has a treap whose nodes are the blocks themselves: most bins hold a block or two, and to
 * find one's place among many of one size takes the steps of a search tree.
 */

#include "engine/torch/block.h"

#include <stdbool.h>

enum { PLIM_FREE_SET_BINS = 1024 };

struct plim_free_bins {
    uint64_t has_any[PLIM_FREE_SET_BINS / 64]; /* bits */
    uint32_t roots[PLIM_FREE_SET_BINS];
};

struct plim_free_set {
    struct plim_free_bins *bins; /* NULL until the first block: a file may name many sets */
    uint32_t seed;               /* of the priorities */
    bool is_by_address;          /* whatever the sizes, in one bin */
};

/* False when memory ran out. Size and address of a block in a set do not change. */
bool plim_free_set_add(struct plim_free_set *set, struct plim_torch_block *blocks, uint32_t block);
void plim_free_set_remove(struct plim_free_set *set, struct plim_torch_block *blocks, uint32_t block);
void plim_free_set_done(struct plim_free_set *set);

/* The first block that is not before (bytes, address); 0: none. */
uint32_t plim_free_set_from(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint64_t bytes,
                            uint64_t address);
/* The block behind one, or before it; 0: none. The last is before 0. */
uint32_t plim_free_set_next(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint32_t block);
uint32_t plim_free_set_back(const struct plim_free_set *set, const struct plim_torch_block *blocks, uint32_t block);

#endif

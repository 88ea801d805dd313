/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_BLOCK_H
#define PLIMSOLL_ENGINE_TORCH_BLOCK_H

/* A part of a segment, a row of one table. Blocks name each other by number; block 0 is "none". */

#include <stdint.h>

enum plim_torch_use { PLIM_TORCH_FREE_BLOCK, PLIM_TORCH_HELD_BLOCK, PLIM_TORCH_PENDING_BLOCK, PLIM_TORCH_UNMAPPED };

struct plim_torch_block {
    uint64_t address, bytes, requested_bytes;
    uint32_t prev, next; /* the neighbours in the segment; prev of a row that is not in use: the next such row */
    uint32_t left, right, above; /* in a set of free_set.h: the nodes around this one */
    uint32_t born;               /* the pool's count of searches when the block became free */
    uint32_t heap;
    uint32_t range; /* the number of an expandable segment; 0: from cudaMalloc */
    enum plim_torch_use use;
};

#endif

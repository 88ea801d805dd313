/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_ALLOCATOR_H
#define PLIMSOLL_ENGINE_TORCH_ALLOCATOR_H

/*
 * PyTorch's CUDA caching allocator as a function: what it is asked, its settings and the memory of a card go in; the
 * segments that it takes, its peaks and the request at which it runs out come out. It decides as PyTorch does
 * (c10/cuda/CUDACachingAllocator.cpp), on data structures of its own; tests/engine/torch/allocator compares the two
 * segment by segment, for PyTorch 2.1, 2.2, 2.4, 2.5, 2.8, 2.10 and 2.15.
 *
 * Terms. A segment is what the allocator takes from the driver: cudaMalloc, or with expandable segments pages that are
 * mapped into a reserved range. A block is a part of a segment, in use or free. A pool holds the blocks of the program
 * (pool 0) or of one CUDA graph or MemPool.
 *
 * Not modelled: the backend cudaMallocAsync, MemPools with an allocator of their own, memory that other processes of
 * the machine take meanwhile.
 */

#include "engine/torch/settings.h"

enum plim_torch_event_kind {
    PLIM_TORCH_TAKE,         /* id asks for bytes */
    PLIM_TORCH_GIVE,         /* id is given back and free at once */
    PLIM_TORCH_GIVE_LATER,   /* id is given back, but other streams still use it */
    PLIM_TORCH_GIVEN,        /* ... and now they do not */
    PLIM_TORCH_EMPTY,        /* torch.cuda.empty_cache() */
    PLIM_TORCH_RELEASE_POOL, /* the last graph or MemPool object of a pool is gone */
    PLIM_TORCH_EMPTY_POOL,   /* ... and its free segments go back to the driver */
};

struct plim_torch_event {
    uint64_t bytes;
    uint32_t id;     /* of an allocation: 0 to n_ids - 1, taken once */
    uint16_t stream; /* numbered in the order of their handles, which is the order in which segments are released */
    uint16_t pool;
    uint8_t kind;
};

enum plim_torch_action { PLIM_TORCH_ALLOC, PLIM_TORCH_FREE, PLIM_TORCH_MAP, PLIM_TORCH_UNMAP };

/* Called for each change of a segment. */
struct plim_torch_change {
    enum plim_torch_action action;
    uint64_t address, bytes;
    uint16_t stream, pool;
};

struct plim_torch_setup {
    struct plim_torch_settings settings;
    uint64_t capacity_bytes; /* that segments can have in all; UINT64_MAX: no end */
    uint64_t card_bytes;     /* of which settings.fraction is a part; 0: capacity_bytes */
    uint32_t n_ids;
    uint16_t n_streams, n_pools;
    /*
     * [pool]: a request of it that fails empties the cache and tries again, as one of pool 0 does; NULL: none of them.
     * PyTorch 2.10 and older release nothing while a pool is in use; 2.15 does for a MemPool, but not while a graph is
     * captured (records "pools-full").
     */
    const bool *has_retries;
    bool ends_at_oom; /* events behind the first request that fails are not run: a program ends there */
    /* Addresses that a driver gave for segments, in order: they decide between free blocks of one size. May be empty.
     */
    const uint64_t *addresses;
    size_t n_addresses;
    uint64_t *block_bytes; /* [id]: written, of the block that it gets; NULL: nobody asks */
    void (*watch)(void *watcher, const struct plim_torch_change *change);
    void *watcher;
};

struct plim_torch_block_before {
    uint64_t bytes, requested_bytes;
    uint32_t id; /* UINT32_MAX: a free block */
    bool is_pending;
};

/* A segment that is there before the first event; of an expandable one a mapped range. */
struct plim_torch_segment_before {
    uint64_t address;
    uint16_t stream, pool;
    bool is_small, is_expandable;
    const struct plim_torch_block_before *blocks;
    size_t n_blocks;
};

struct plim_torch_result {
    uint64_t allocated_bytes, reserved_bytes, requested_bytes, inactive_split_bytes; /* now */
    uint64_t allocated_peak_bytes, reserved_peak_bytes, requested_peak_bytes, inactive_split_peak_bytes;
    size_t allocated_peak_at, reserved_peak_at; /* the events that first reached the peaks */
    uint64_t bound_peak_bytes;                  /* allocated and inactive split: not to be given back to the driver */
    size_t bound_peak_at;
    uint64_t n_short;           /* requests that the driver did not meet at once, whatever was done about it */
    uint64_t n_retries, n_ooms; /* a retry waits for all streams and empties the cache */
    uint64_t range_peak_bytes;  /* the most addresses that were in use of one range of an expandable segment */
    size_t oom_at;              /* the first event that failed; SIZE_MAX: none */
    uint64_t oom_reserved_bytes, oom_allocated_bytes;
};

struct plim_torch_allocator;

/* The most streams times pools that an allocator has room for. */
enum { PLIM_TORCH_MAX_HEAPS = 1 << 16 };

PLIM_MUST_CHECK int plim_torch_allocator_open(const struct plim_torch_setup *setup,
                                              struct plim_torch_allocator **ret_allocator, struct plim_error *reterr);
/* Before the first event; the segments in the order of their addresses. */
PLIM_MUST_CHECK int plim_torch_allocator_adopt(struct plim_torch_allocator *allocator,
                                               const struct plim_torch_segment_before *segment,
                                               struct plim_error *reterr);
/* May be called again with the events that follow. Events that make no sense (an id that is not held) do nothing. */
PLIM_MUST_CHECK int plim_torch_allocator_run(struct plim_torch_allocator *allocator,
                                             const struct plim_torch_event *events, size_t n_events,
                                             struct plim_error *reterr);
/* Peaks are those from here on, as torch.cuda.reset_peak_memory_stats() has it. */
void plim_torch_allocator_forget_peaks(struct plim_torch_allocator *allocator);
const struct plim_torch_result *plim_torch_allocator_result(const struct plim_torch_allocator *allocator);

/* A block of a segment, as it is now. */
struct plim_torch_part {
    uint64_t bytes;
    uint32_t id; /* UINT32_MAX: free */
};

/* Visit the segments from cudaMalloc that something holds, each once; false when memory ran out. */
PLIM_MUST_CHECK bool plim_torch_allocator_parts(const struct plim_torch_allocator *allocator,
                                                void (*visit)(void *visitor, const struct plim_torch_part *parts,
                                                              size_t n_parts),
                                                void *visitor);
void plim_torch_allocator_free(struct plim_torch_allocator *allocator);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_TRACE_H
#define PLIMSOLL_TRACE_TRACE_H

/*
 * A snapshot of PyTorch's memory (torch.cuda.memory._dump_snapshot), as plain arrays: what each device's allocator did,
 * in order, and the segments and blocks that it held at the end. Texts are numbers of one table; stacks are lists of
 * frames that many entries share.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLIM_TRACE_NO_STACK UINT32_MAX
#define PLIM_TRACE_NO_POOL  UINT16_MAX

enum { PLIM_TRACE_N_DIVISIONS = 16 };

enum plim_trace_action {
    PLIM_TRACE_ALLOC,
    PLIM_TRACE_FREE_REQUESTED,
    PLIM_TRACE_FREE_COMPLETED,
    PLIM_TRACE_SEGMENT_ALLOC,
    PLIM_TRACE_SEGMENT_FREE,
    PLIM_TRACE_SEGMENT_MAP,
    PLIM_TRACE_SEGMENT_UNMAP,
    PLIM_TRACE_OOM,
    PLIM_TRACE_SNAPSHOT,
    PLIM_TRACE_OTHER, /* what a newer PyTorch may add; without effect on memory */
};

struct plim_trace_entry {
    uint64_t address; /* of OOM: the free bytes of the device */
    uint64_t bytes;   /* of ALLOC and FREE_*: as requested; of OOM: rounded */
    uint64_t time_us;
    uint32_t stack;
    uint16_t stream; /* an index of streams */
    uint16_t pool;   /* an index of pools; PLIM_TRACE_NO_POOL: not written (2.10 and older) */
    uint8_t action;
    bool is_emptying; /* its stack is in torch.cuda.empty_cache() */
};

enum plim_trace_block_state { PLIM_TRACE_INACTIVE, PLIM_TRACE_ALLOCATED, PLIM_TRACE_PENDING };

struct plim_trace_block {
    uint64_t bytes, requested_bytes;
    uint32_t stack;
    uint8_t state;
};

struct plim_trace_segment {
    uint64_t address, bytes;
    uint32_t first_block, n_blocks, stack;
    uint16_t stream, pool, device;
    bool is_small, is_expandable;
};

struct plim_trace_frame {
    uint32_t file, name; /* texts */
    uint32_t line;
};

/* Frames from the innermost on: n of them from stack_frames[first]. */
struct plim_trace_stack {
    uint32_t first, n;
};

struct plim_trace_pool_id {
    uint64_t first, second;
};

struct plim_trace_device {
    size_t first_entry, n_entries;
};

/* What the snapshot says of the allocator's settings; has_settings is false for old snapshots, which say nothing. */
struct plim_trace_settings {
    uint32_t text; /* PYTORCH_CUDA_ALLOC_CONF */
    int64_t max_split_bytes;
    double gc_threshold;
    uint32_t divisions[PLIM_TRACE_N_DIVISIONS];
    bool is_expandable, has_divisions;
};

struct plim_memory_trace {
    struct plim_trace_entry *entries;
    size_t n_entries;
    struct plim_trace_device *devices;
    size_t n_devices;
    struct plim_trace_segment *segments; /* in the order of the file */
    size_t n_segments;
    struct plim_trace_block *blocks;
    size_t n_blocks;
    struct plim_trace_stack *stacks;
    size_t n_stacks;
    uint32_t *stack_frames; /* numbers of frames */
    size_t n_stack_frames;
    struct plim_trace_frame *frames;
    size_t n_frames;
    char *text; /* texts, each with its NUL; a text is the offset of its first byte, 0 is "" */
    size_t text_bytes;
    uint64_t *streams; /* handles */
    size_t n_streams;
    struct plim_trace_pool_id *pools; /* the first is (0, 0): the program's own */
    size_t n_pools;
    struct plim_trace_settings settings;
    bool has_settings;
};

/* What a device's allocator did; NULL: nothing was recorded. */
static inline struct plim_trace_entry *plim_trace_history(const struct plim_memory_trace *trace, size_t device,
                                                          size_t *ret_n)
{
    *ret_n = device < trace->n_devices ? trace->devices[device].n_entries : 0;
    return *ret_n ? trace->entries + trace->devices[device].first_entry : NULL;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_SETTINGS_H
#define PLIMSOLL_ENGINE_TORCH_SETTINGS_H

/*
 * The settings of PyTorch's CUDA caching allocator, as PYTORCH_CUDA_ALLOC_CONF writes them, and the sizes that follow
 * from them. Source: c10/cuda/CUDACachingAllocator.cpp, c10/core/AllocatorConfig.cpp. Records of PyTorch 2.1,
 * 2.2, 2.4, 2.5, 2.8, 2.10 and 2.15 agree with every number here.
 */

#include "base/error.h"
#include "base/units.h"

enum { PLIM_TORCH_N_DIVISIONS = 16 }; /* one for each power of two from 1 MiB to 32 GiB and above */

#define PLIM_TORCH_BLOCK_BYTES         UINT64_C(512)   /* kMinBlockSize */
#define PLIM_TORCH_SMALL_BYTES         PLIM_MIB        /* kSmallSize: the largest block of a small pool */
#define PLIM_TORCH_SMALL_SEGMENT_BYTES (2 * PLIM_MIB)  /* kSmallBuffer */
#define PLIM_TORCH_LARGE_SEGMENT_BYTES (20 * PLIM_MIB) /* kLargeBuffer */
#define PLIM_TORCH_OWN_SEGMENT_BYTES   (10 * PLIM_MIB) /* kMinLargeAlloc: from here a request has its own segment */
#define PLIM_TORCH_SEGMENT_STEP_BYTES  (2 * PLIM_MIB)  /* kRoundLarge */

struct plim_torch_settings {
    uint64_t max_split_bytes;              /* UINT64_MAX: blocks of any size are split */
    uint64_t max_non_split_rounding_bytes; /* what a block that is not split may be larger than its request */
    uint64_t large_segment_bytes;
    uint32_t divisions[PLIM_TORCH_N_DIVISIONS]; /* roundup_power2_divisions; 0: sizes are rounded to 512 bytes */
    double gc_threshold;                        /* 0: no garbage collection */
    double fraction;                            /* per_process_memory_fraction; 0 and 1: no limit */
    bool is_expandable;
};

void plim_torch_settings_init(struct plim_torch_settings *settings);

/*
 * Change settings as a text of PYTORCH_CUDA_ALLOC_CONF does: "expandable_segments:True,max_split_size_mb:128". Keys
 * that say nothing of device memory are accepted and without effect. What PyTorch refuses is PLIM_E_USAGE, the backend
 * cudaMallocAsync (the driver's own pool, which is not replayed) PLIM_E_UNSUPPORTED.
 */
PLIM_MUST_CHECK int plim_torch_settings_parse(struct plim_torch_settings *settings, const char *text,
                                              struct plim_error *reterr);

bool plim_torch_settings_are_equal(const struct plim_torch_settings *a, const struct plim_torch_settings *b);

/* The text that makes these of the defaults; false: it has no room. */
bool plim_torch_settings_text(const struct plim_torch_settings *settings, char *ret_text, size_t size);

/* The bytes of the block that a request gets. */
uint64_t plim_torch_round(const struct plim_torch_settings *settings, uint64_t requested_bytes);

/* The bytes of a new segment for a block of that size. */
uint64_t plim_torch_segment_bytes(const struct plim_torch_settings *settings, uint64_t block_bytes);

#endif

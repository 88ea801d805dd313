/* SPDX-License-Identifier: MIT */
#include "receipt/allocation.h"

#include <string.h>

static const struct {
    const char *name, *why;
} kinds[PLIM_ALLOCATION_MAX_] = {
    [PLIM_ALLOCATION_UNKNOWN] = { "?", "requested by the program" },
    [PLIM_ALLOCATION_MALLOC] = { "cudaMalloc", "requested by the program" },
    [PLIM_ALLOCATION_MANAGED] = { "managed memory", "requested by the program" },
    [PLIM_ALLOCATION_POOL] = { "memory pool", "asked for with cuMemCreate" },
    [PLIM_ALLOCATION_CONTEXT] = { "CUDA context", "taken by the driver for a process, not requested by the program, "
                                                  "by the card's multiprocessors" },
    [PLIM_ALLOCATION_KERNELS] = { "kernels", "not requested by the program: code that is loaded when it first runs" },
    [PLIM_ALLOCATION_CUBLAS] = { "cuBLAS workspace",
                                 "what NVIDIA's cuBLAS takes for a handle; measured for 8.9 and 9.0" },
    [PLIM_ALLOCATION_NCCL] = { "NCCL buffers", "what NVIDIA's NCCL takes for its channels, after its source; how many "
                                               "there are depends on the links" },
    [PLIM_ALLOCATION_LIBRARIES] = { "math libraries", "what cuSOLVER, cuDNN, cuRAND and cuFFT take for handles and "
                                                      "plans, as seen with CUDA 13.0; no card measured" },
    [PLIM_ALLOCATION_ROUNDING] = { "rounding", "cudaMalloc in units of 2 MiB" },
    [PLIM_ALLOCATION_PINNED] = { "pinned memory", "requested by the program" },
};

const char *plim_allocation_name(enum plim_allocation_kind kind)
{
    return kinds[kind < PLIM_ALLOCATION_MAX_ ? kind : PLIM_ALLOCATION_UNKNOWN].name;
}

const char *plim_allocation_why(enum plim_allocation_kind kind)
{
    return kinds[kind < PLIM_ALLOCATION_MAX_ ? kind : PLIM_ALLOCATION_UNKNOWN].why;
}

enum plim_allocation_kind plim_allocation_named(const char *name)
{
    for (int i = 0; name && i < PLIM_ALLOCATION_MAX_; i++)
        if (!strcmp(kinds[i].name, name))
            return (enum plim_allocation_kind)i;
    return PLIM_ALLOCATION_UNKNOWN;
}

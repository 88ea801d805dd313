/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_PARAMETERS_H
#define PLIMSOLL_VGPU_KERNELS_PARAMETERS_H

/* The parameters of a launch, and the structures of PyTorch that are passed as such. */

#include "vgpu/kernels/kernel.h"

#include <string.h>

static inline const void *plim_pointer_at(void *const *parameters, unsigned i)
{
    const void *pointer;
    memcpy(&pointer, parameters[i], sizeof pointer);
    return pointer;
}

static inline int64_t plim_int64_at(void *const *parameters, unsigned i)
{
    int64_t value;
    memcpy(&value, parameters[i], sizeof value);
    return value;
}

static inline int32_t plim_int32_at(void *const *parameters, unsigned i)
{
    int32_t value;
    memcpy(&value, parameters[i], sizeof value);
    return value;
}

static inline bool plim_flag_at(void *const *parameters, unsigned i) { return *(const uint8_t *)parameters[i] != 0; }

/* A number of elements, of 4 or 8 bytes; 0 if it is negative. */
static inline uint64_t plim_count_at(void *const *parameters, unsigned i, unsigned bytes)
{
    const int64_t value = bytes == 8 ? plim_int64_at(parameters, i) : plim_int32_at(parameters, i);
    return value > 0 ? (uint64_t)value : 0;
}

/*
 * TensorInfo<T, IndexType>: data, sizes[25], strides[25] in elements, dims (ATen/cuda/detail/TensorInfo.cuh; PyTorch
 * 2.5 to 2.15). index_bytes is the size of IndexType, 4 or 8. False: it is none.
 */
bool plim_view_of_info(const void *info, enum plim_element element, unsigned index_bytes, struct plim_view *ret_view);

/* The size of a TensorInfo in bytes. */
size_t plim_info_bytes(unsigned index_bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * libcuda: the end of a primary context. What was allocated in it is freed, and so is its own memory, until it is made
 * again. Memory of cuMemCreate is of the device, not of a context. Handles of libraries stay the program's to destroy.
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/memory/device_memory.h"

status cuDevicePrimaryCtxReset_v2(int device)
{
    void *pool;
    uint32_t at = 0;
    status error = plim_context_check_device(device);
    if (error)
        return error;
    for (uint64_t address; (address = plim_device_memory_next(PLIM_DEVICE_MEMORY_ALLOC, device, &at));)
        (void)plim_device_memory_free(address);
    at = 0;
    for (uint64_t address; (address = plim_device_memory_next(PLIM_DEVICE_MEMORY_POOL, device, &at));)
        (void)cuMemFree_v2(address);
    if (!cuDeviceGetDefaultMemPool(&pool, device))
        (void)cuMemPoolTrimTo(pool, 0);
    plim_context_release_all(device);
    plim_vgpu_drop_context(device);
    return PLIM_CUDA_SUCCESS;
}

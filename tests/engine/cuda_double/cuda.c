/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1 of the test double: device look-up and the virtual memory calls of ggml's pool
 * (declarations after the CUDA 13.0 driver API reference).
 */
#include "device.h"

#include <stdlib.h>
#include <sys/mman.h>

typedef int status;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };
enum { GRANULARITY_BYTES = 2 << 20 };

status cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return SUCCESS;
}

status cuDeviceGetAttribute(int *value, int attribute, int device)
{
    const int virtual_memory_management = 102;
    (void)device;
    *value = attribute == virtual_memory_management;
    return SUCCESS;
}

status cuGetErrorString(status error, const char **text)
{
    *text = error == OUT_OF_MEMORY ? "out of memory" : "error of the test double";
    return SUCCESS;
}

status cuMemGetAllocationGranularity(size_t *granularity, const void *prop, int option)
{
    (void)prop, (void)option;
    *granularity = GRANULARITY_BYTES;
    return SUCCESS;
}

status cuMemAddressReserve(unsigned long long *pointer, size_t size, size_t alignment, unsigned long long address,
                           unsigned long long flags)
{
    (void)alignment, (void)address, (void)flags;
    void *start = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *pointer = (unsigned long long)(uintptr_t)start;
    return start == MAP_FAILED ? OUT_OF_MEMORY : SUCCESS;
}

status cuMemAddressFree(unsigned long long pointer, size_t size)
{
    return munmap((void *)(uintptr_t)pointer, size) ? INVALID_VALUE : SUCCESS;
}

/* CUmemAllocationProp: type, handle types, location {type, id}. */
status cuMemCreate(unsigned long long *handle, size_t size, const void *prop, unsigned long long flags)
{
    int device = ((const int *)prop)[3];
    (void)flags;
    *handle = (unsigned long long)(uintptr_t)double_alloc(device, size);
    return *handle ? SUCCESS : OUT_OF_MEMORY;
}

/* The pool releases a handle right after mapping it and keeps the memory: charge stays until the program ends. */
status cuMemRelease(unsigned long long handle)
{
    (void)handle;
    return SUCCESS;
}

status cuMemMap(unsigned long long pointer, size_t size, size_t offset, unsigned long long handle,
                unsigned long long flags)
{
    (void)pointer, (void)size, (void)offset, (void)handle, (void)flags;
    return SUCCESS;
}

status cuMemSetAccess(unsigned long long pointer, size_t size, const void *access, size_t count)
{
    (void)pointer, (void)size, (void)access, (void)count;
    return SUCCESS;
}

status cuMemUnmap(unsigned long long pointer, size_t size)
{
    (void)pointer, (void)size;
    return SUCCESS;
}

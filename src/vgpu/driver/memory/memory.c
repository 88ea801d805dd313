/* SPDX-License-Identifier: MIT */
/* libcuda: memory of the card and of the host, and the reserve/create/map calls. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/core/space.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/memory/device_memory.h"
#include "vgpu/driver/memory/host.h"
#include "vgpu/driver/memory/pools.h"
#include "vgpu/driver/streams/schedule.h"

#include <stdlib.h>

static status ready(void)
{
    int error;
    plim_vgpu_ledger(&error);
    return error;
}

/* Forbidden during a capture of a strict mode. */
static status may_allocate(void)
{
    status error = plim_context_need();
    return error ? error : plim_capture_unsafe();
}

status cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    status error = plim_context_need();
    const struct plim_ledger_card *card = error ? NULL : plim_vgpu_card(plim_context_device());
    if (!card)
        return error ? error : PLIM_CUDA_INVALID_CONTEXT;
    *free_bytes = plim_vgpu_free_bytes(plim_context_device());
    *total_bytes = card->total_bytes - card->reserved_bytes;
    return PLIM_CUDA_SUCCESS;
}

status cuMemAlloc_v2(device_pointer *address, size_t size)
{
    uint64_t found;
    status error = may_allocate();
    if (!error && (size == 0 || !address))
        error = PLIM_CUDA_INVALID_VALUE;
    if (!error && !(error = plim_device_memory_alloc(plim_context_device(), size, &found)))
        *address = found;
    return error;
}

/* Rows are padded to 512 bytes, the texture alignment. */
status cuMemAllocPitch_v2(device_pointer *address, size_t *pitch, size_t width, size_t height, unsigned element)
{
    enum { ROW_BYTES = 512 };
    if (width == 0 || height == 0 || width > SIZE_MAX - ROW_BYTES || (element != 4 && element != 8 && element != 16))
        return PLIM_CUDA_INVALID_VALUE;
    const size_t row = (width + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
    if (height > SIZE_MAX / row)
        return PLIM_CUDA_OUT_OF_MEMORY;
    status error = cuMemAlloc_v2(address, row * height);
    if (!error)
        *pitch = row;
    return error;
}

status cuMemFree_v2(device_pointer address)
{
    struct plim_device_memory memory;
    status error = ready();
    if (error || !address)
        return error;
    if ((error = plim_capture_unsafe()))
        return error;
    if (plim_vgpu_managed_free((void *)(uintptr_t)address))
        return PLIM_CUDA_SUCCESS;
    if (!plim_device_memory_at(address, &memory) && memory.kind == PLIM_DEVICE_MEMORY_POOL)
        return cuMemFreeAsync(address, NULL);
    plim_schedule_finish_all(-1);
    return plim_device_memory_free(address);
}

status cuMemFreeAsync(device_pointer address, void *stream)
{
    struct plim_device_memory memory;
    if (plim_device_memory_at(address, &memory) || memory.base != address)
        return PLIM_CUDA_INVALID_VALUE;
    status error = plim_capture_work(stream, PLIM_NODE_MEM_FREE, NULL, NULL, NULL);
    if (error)
        return error;
    return memory.kind == PLIM_DEVICE_MEMORY_POOL ? plim_pool_free(address) : cuMemFree_v2(address);
}

status cuMemAllocManaged(device_pointer *address, size_t size, unsigned flags)
{
    void *start;
    status error = may_allocate();
    (void)flags;
    if (!error && !(error = plim_vgpu_managed_alloc(&start, size, plim_context_device())))
        *address = (device_pointer)(uintptr_t)start;
    return error;
}

status cuMemGetAddressRange_v2(device_pointer *base, size_t *size, device_pointer address)
{
    struct plim_device_memory memory;
    status error = ready();
    if (error || (error = plim_device_memory_at(address, &memory)))
        return error == PLIM_CUDA_INVALID_VALUE ? PLIM_CUDA_NOT_FOUND : error;
    if (base)
        *base = memory.base;
    if (size)
        *size = memory.size;
    return PLIM_CUDA_SUCCESS;
}

/* --- host memory --- */

status cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
    status error = may_allocate();
    (void)flags;
    return error ? error : pointer ? plim_vgpu_host_alloc(pointer, size) : PLIM_CUDA_INVALID_VALUE;
}

status cuMemAllocHost_v2(void **pointer, size_t size) { return cuMemHostAlloc(pointer, size, 0); }

status cuMemFreeHost(void *pointer)
{
    status error = ready();
    if (!error)
        plim_schedule_finish_all(-1);
    return error ? error : plim_vgpu_host_free(pointer, false);
}

status cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags)
{
    status error = plim_context_need();
    (void)flags;
    return error ? error : plim_vgpu_host_register(pointer, size);
}

status cuMemHostUnregister(void *pointer)
{
    status error = ready();
    return error ? error : plim_vgpu_host_free(pointer, true);
}

status cuMemHostGetDevicePointer_v2(device_pointer *address, void *pointer, unsigned flags)
{
    if (flags || !address || plim_vgpu_host_kind(pointer) == PLIM_KIND_MAX_)
        return PLIM_CUDA_INVALID_VALUE;
    *address = (device_pointer)(uintptr_t)pointer;
    return PLIM_CUDA_SUCCESS;
}

status cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    enum { PORTABLE_AND_MAPPED = 3 };
    if (!flags || plim_vgpu_host_kind(pointer) != PLIM_KIND_PINNED)
        return PLIM_CUDA_INVALID_VALUE;
    *flags = PORTABLE_AND_MAPPED;
    return PLIM_CUDA_SUCCESS;
}

/* Hints about managed memory. The location differs between versions and is not read. */
status cuMemAdvise_v2(device_pointer address, size_t size, int advice, uint64_t location)
{
    enum plim_ledger_kind kind;
    (void)advice, (void)location;
    status error = plim_context_need();
    if (!error && !plim_vgpu_host_holds((const void *)(uintptr_t)address, size, &kind))
        error = PLIM_CUDA_INVALID_VALUE;
    return error;
}

status cuMemAdvise(device_pointer address, size_t size, int advice, int device)
{
    (void)device;
    return cuMemAdvise_v2(address, size, advice, 0);
}

status cuMemPrefetchAsync_v2(device_pointer address, size_t size, uint64_t location, unsigned flags, void *stream)
{
    (void)flags;
    return plim_stream_of(stream) ? cuMemAdvise_v2(address, size, 0, location) : PLIM_CUDA_INVALID_HANDLE;
}

status cuMemPrefetchAsync(device_pointer address, size_t size, int device, void *stream)
{
    (void)device;
    return cuMemPrefetchAsync_v2(address, size, 0, 0, stream);
}

/* --- virtual memory management --- */

enum { PINNED = 1, ON_DEVICE = 1, HANDLE_POSIX = 1, HANDLE_FABRIC = 8 };

static status check(const struct cu_allocation_properties *properties)
{
    if (!properties || properties->type != PINNED)
        return PLIM_CUDA_INVALID_VALUE;
    if (properties->location.type != ON_DEVICE || (properties->handle_types & ~HANDLE_POSIX))
        return PLIM_CUDA_NOT_SUPPORTED; /* host memory; handles of a fabric of machines */
    return plim_context_check_device(properties->location.id);
}

status cuMemGetAllocationGranularity(size_t *granularity, const struct cu_allocation_properties *properties, int option)
{
    (void)option;
    status error = check(properties);
    if (!error)
        *granularity = PLIM_SPACE_SLOT_BYTES;
    return error;
}

status cuMemAddressReserve(device_pointer *address, size_t size, size_t alignment, device_pointer wish,
                           unsigned long long flags)
{
    uint64_t found;
    status error = ready();
    (void)wish; /* a hint */
    if (error)
        return error;
    if (!address || flags || alignment > PLIM_SPACE_SLOT_BYTES)
        return PLIM_CUDA_INVALID_VALUE;
    if (!(error = plim_device_memory_reserve(size, &found)))
        *address = found;
    return error;
}

status cuMemAddressFree(device_pointer address, size_t size)
{
    status error = ready();
    return error ? error : plim_device_memory_unreserve(address, size);
}

status cuMemCreate(unsigned long long *handle, size_t size, const struct cu_allocation_properties *properties,
                   unsigned long long flags)
{
    uint64_t found;
    status error = ready();
    if (error || (error = check(properties)))
        return error;
    if (!handle || flags)
        return PLIM_CUDA_INVALID_VALUE;
    if (!(error = plim_device_memory_create(properties->location.id, size, (unsigned)properties->handle_types, &found)))
        *handle = found;
    return error;
}

status cuMemRelease(unsigned long long handle)
{
    status error = ready();
    return error ? error : plim_device_memory_release(handle);
}

/* The offset must be 0 (driver API reference). */
status cuMemMap(device_pointer address, size_t size, size_t offset, unsigned long long handle, unsigned long long flags)
{
    status error = ready();
    return error ? error : offset || flags ? PLIM_CUDA_INVALID_VALUE : plim_device_memory_map(address, size, handle);
}

status cuMemUnmap(device_pointer address, size_t size)
{
    status error = ready();
    return error ? error : plim_device_memory_unmap(address, size);
}

status cuMemSetAccess(device_pointer address, size_t size, const struct cu_access *access, size_t count)
{
    status error = ready();
    if (!access || count == 0)
        return PLIM_CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count && !error; i++) {
        if (access[i].location.type != ON_DEVICE)
            error = PLIM_CUDA_NOT_SUPPORTED;
        else if (!(error = plim_context_check_device(access[i].location.id)))
            error = plim_device_memory_set_access(address, size, access[i].location.id, (unsigned)access[i].flags);
    }
    return error;
}

status cuMemGetAccess(unsigned long long *flags, const struct cu_location *location, device_pointer address)
{
    unsigned access = 0;
    if (!flags || !location || location->type != ON_DEVICE)
        return PLIM_CUDA_INVALID_VALUE;
    status error = plim_context_check_device(location->id);
    if (!error && !(error = plim_device_memory_get_access(address, location->id, &access)))
        *flags = access;
    return error;
}

status cuMemRetainAllocationHandle(unsigned long long *handle, void *address)
{
    struct plim_device_memory memory;
    status error = plim_device_memory_at((uint64_t)(uintptr_t)address, &memory);
    if (error || memory.kind != PLIM_DEVICE_MEMORY_MAPPED || !handle)
        return PLIM_CUDA_INVALID_VALUE;
    if (!(error = plim_device_memory_retain(memory.handle)))
        *handle = memory.handle;
    return error;
}

status cuMemGetAllocationPropertiesFromHandle(struct cu_allocation_properties *properties, unsigned long long number)
{
    struct plim_device_memory_handle handle;
    status error = plim_device_memory_handle_at(number, &handle);
    if (error || !properties)
        return PLIM_CUDA_INVALID_VALUE;
    *properties = (struct cu_allocation_properties){ .type = PINNED,
                                                     .handle_types = (int)handle.share,
                                                     .location = { ON_DEVICE, handle.device } };
    return PLIM_CUDA_SUCCESS;
}

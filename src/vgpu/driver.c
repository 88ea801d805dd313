/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1: devices, contexts, memory. The declarations are our own, after the CUDA driver API reference (12.9 and
 * 13.0). A context is its device: the primary one, current per thread. NVIDIA's private tables are not answered.
 */
#include "vgpu/attributes.h"
#include "vgpu/memory.h"
#include "vgpu/space.h"

#include <stdio.h>
#include <string.h>

typedef int status;
typedef struct context *context;
typedef unsigned long long device_pointer;

enum { DRIVER_VERSION = 13000 };

static _Thread_local int current = -1; /* device of the current context */
static char contexts[PLIM_LEDGER_MAX_CARDS];

static context context_of(int device) { return (context)(void *)&contexts[device]; }

static int device_of(context ctx)
{
    const char *p = (const char *)ctx;
    return p >= contexts && p < contexts + plim_vgpu_n_cards() ? (int)(p - contexts) : -1;
}

static status ready(void)
{
    int error;
    plim_vgpu_ledger(&error);
    return error;
}

static status with_device(int device)
{
    status error = ready();
    return error ? error : plim_vgpu_card(device) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_DEVICE;
}

/* --- devices --- */

status cuInit(unsigned flags)
{
    (void)flags;
    return ready();
}

status cuDriverGetVersion(int *version)
{
    *version = DRIVER_VERSION;
    return PLIM_CUDA_SUCCESS;
}

status cuDeviceGetCount(int *count)
{
    status error = ready();
    *count = error ? 0 : plim_vgpu_n_cards();
    return error == PLIM_CUDA_NO_DEVICE ? PLIM_CUDA_SUCCESS : error;
}

status cuDeviceGet(int *device, int ordinal)
{
    status error = with_device(ordinal);
    if (!error)
        *device = ordinal;
    return error;
}

status cuDeviceGetName(char *name, int size, int device)
{
    status error = with_device(device);
    if (!error && size > 0)
        snprintf(name, (size_t)size, "%s", plim_vgpu_card(device)->name);
    return error;
}

status cuDeviceGetUuid(void *uuid, int device)
{
    status error = with_device(device);
    if (!error)
        plim_card_uuid(device, uuid);
    return error;
}

status cuDeviceGetUuid_v2(void *uuid, int device) { return cuDeviceGetUuid(uuid, device); }

status cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    status error = with_device(device);
    if (!error)
        *bytes = plim_vgpu_card(device)->total_bytes - plim_vgpu_card(device)->reserved_bytes;
    return error;
}

status cuDeviceGetAttribute(int *value, int attribute, int device)
{
    char what[40];
    status error = with_device(device);
    if (error || plim_attribute(plim_vgpu_card(device), device, attribute, value))
        return error;
    *value = 0;
    snprintf(what, sizeof what, "device attribute %d", attribute);
    plim_ledger_warn(plim_vgpu_ledger(&error), "no_value", what);
    return PLIM_CUDA_SUCCESS;
}

status cuDeviceComputeCapability(int *major, int *minor, int device)
{
    status error = cuDeviceGetAttribute(major, 75, device);
    return error ? error : cuDeviceGetAttribute(minor, 76, device);
}

status cuDeviceGetPCIBusId(char *text, int size, int device)
{
    char id[PLIM_PCI_TEXT];
    status error = with_device(device);
    plim_card_pci(device, id);
    if (!error && size > 0)
        snprintf(text, (size_t)size, "%s", id);
    return error;
}

status cuDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned domain, bus;
    if (sscanf(text, "%x:%x:", &domain, &bus) != 2 || bus == 0 || !plim_vgpu_card((int)bus - 1))
        return PLIM_CUDA_INVALID_VALUE;
    *device = (int)bus - 1;
    return PLIM_CUDA_SUCCESS;
}

status cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    status error = with_device(device);
    if (!error && !(error = with_device(peer)))
        *can = device != peer;
    return error;
}

/* --- contexts --- */

status cuDevicePrimaryCtxRetain(context *ctx, int device)
{
    status error = with_device(device);
    if (!error && !(error = plim_vgpu_need_context(device)))
        *ctx = context_of(device);
    return error;
}

status cuDevicePrimaryCtxRelease_v2(int device) { return with_device(device); }

status cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    status error = with_device(device);
    if (!error) {
        *flags = 0;
        *is_active = current == device;
    }
    return error;
}

status cuCtxGetCurrent(context *ctx)
{
    status error = ready();
    if (!error)
        *ctx = current >= 0 ? context_of(current) : NULL;
    return error;
}

status cuCtxSetCurrent(context ctx)
{
    status error = ready();
    if (error)
        return error;
    if (ctx && device_of(ctx) < 0)
        return PLIM_CUDA_INVALID_CONTEXT;
    current = ctx ? device_of(ctx) : -1;
    return PLIM_CUDA_SUCCESS;
}

status cuCtxGetDevice(int *device)
{
    status error = ready();
    if (error)
        return error;
    if (current < 0)
        return PLIM_CUDA_INVALID_CONTEXT;
    *device = current;
    return PLIM_CUDA_SUCCESS;
}

status cuCtxSynchronize(void) { return ready(); }

/* --- memory --- */

status cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    status error = ready();
    const struct plim_ledger_card *card = plim_vgpu_card(current);
    if (error || !card)
        return error ? error : PLIM_CUDA_INVALID_CONTEXT;
    *free_bytes = plim_ledger_free_bytes(card);
    *total_bytes = card->total_bytes - card->reserved_bytes;
    return PLIM_CUDA_SUCCESS;
}

static status in_context(void)
{
    status error = ready();
    return error ? error : current < 0 ? PLIM_CUDA_INVALID_CONTEXT : PLIM_CUDA_SUCCESS;
}

status cuMemAlloc_v2(device_pointer *address, size_t size)
{
    uint64_t found;
    status error = in_context();
    if (!error && size == 0)
        error = PLIM_CUDA_INVALID_VALUE;
    if (!error && !(error = plim_memory_alloc(current, size, &found)))
        *address = found;
    return error;
}

status cuMemFree_v2(device_pointer address)
{
    status error = ready();
    if (error || !address)
        return error;
    return plim_vgpu_managed_free((void *)(uintptr_t)address) ? PLIM_CUDA_SUCCESS : plim_memory_free(address);
}

status cuMemAllocManaged(device_pointer *address, size_t size, unsigned flags)
{
    void *start;
    status error = in_context();
    (void)flags;
    if (!error && !(error = plim_vgpu_managed_alloc(&start, size, current)))
        *address = (device_pointer)(uintptr_t)start;
    return error;
}

status cuMemAllocHost_v2(void **pointer, size_t size)
{
    status error = in_context();
    return error ? error : plim_vgpu_host_alloc(pointer, size);
}

status cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    return cuMemAllocHost_v2(pointer, size);
}

status cuMemFreeHost(void *pointer)
{
    status error = ready();
    return error ? error : plim_vgpu_host_free(pointer, false);
}

status cuMemGetAddressRange_v2(device_pointer *base, size_t *size, device_pointer address)
{
    uint64_t start, n;
    status error = ready();
    if (error || (error = plim_memory_range(address, &start, &n)))
        return error == PLIM_CUDA_INVALID_VALUE ? PLIM_CUDA_NOT_FOUND : error;
    if (base)
        *base = start;
    if (size)
        *size = n;
    return PLIM_CUDA_SUCCESS;
}

/* --- virtual memory management --- */

/* CUmemAllocationProp, CUmemAccessDesc: only the places of what is read. */
struct allocation_prop {
    int type, handle_types, location_type, location_id;
};

status cuMemGetAllocationGranularity(size_t *granularity, const struct allocation_prop *prop, int option)
{
    (void)option;
    status error = with_device(prop->location_id);
    if (!error)
        *granularity = PLIM_SPACE_SLOT_BYTES;
    return error;
}

status cuMemAddressReserve(device_pointer *address, size_t size, size_t alignment, device_pointer wish,
                           unsigned long long flags)
{
    uint64_t found;
    status error = ready();
    (void)alignment, (void)wish, (void)flags;
    if (!error && !(error = plim_memory_reserve(size, &found)))
        *address = found;
    return error;
}

status cuMemAddressFree(device_pointer address, size_t size)
{
    status error = ready();
    return error ? error : plim_memory_unreserve(address, size);
}

status cuMemCreate(unsigned long long *handle, size_t size, const struct allocation_prop *prop,
                   unsigned long long flags)
{
    enum { PINNED = 1, ON_DEVICE = 1 };
    uint64_t found;
    status error = ready();
    if (error)
        return error;
    if (flags || prop->type != PINNED || prop->location_type != ON_DEVICE)
        return PLIM_CUDA_NOT_SUPPORTED;
    error = with_device(prop->location_id);
    if (!error && !(error = plim_memory_create(prop->location_id, size, &found)))
        *handle = found;
    return error;
}

status cuMemRelease(unsigned long long handle)
{
    status error = ready();
    return error ? error : plim_memory_release(handle);
}

status cuMemMap(device_pointer address, size_t size, size_t offset, unsigned long long handle, unsigned long long flags)
{
    status error = ready();
    return error ? error : offset || flags ? PLIM_CUDA_INVALID_VALUE : plim_memory_map(address, size, handle);
}

status cuMemUnmap(device_pointer address, size_t size)
{
    status error = ready();
    return error ? error : plim_memory_unmap(address, size);
}

status cuMemSetAccess(device_pointer address, size_t size, const void *access, size_t count)
{
    uint64_t base, n;
    status error = ready();
    (void)size, (void)access, (void)count;
    return error ? error : plim_memory_range(address, &base, &n);
}

/* --- errors, and what is not answered --- */

status cuGetErrorString(status error, const char **text)
{
    *text = plim_vgpu_error_text(error);
    return PLIM_CUDA_SUCCESS;
}

status cuGetErrorName(status error, const char **name)
{
    *name = plim_vgpu_error_name(error, false);
    return PLIM_CUDA_SUCCESS;
}

/* Asked for by NVIDIA's own runtime: a program that was linked with it statically (-cudart static, nvcc's default). */
status cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    plim_vgpu_unsupported("cuGetExportTable (a statically linked CUDA runtime)", __builtin_return_address(0));
    return PLIM_CUDA_NOT_FOUND;
}

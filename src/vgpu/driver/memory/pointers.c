/* SPDX-License-Identifier: MIT */
/* libcuda: attributes of pointers, for every address inside of an allocation. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/memory/device_memory.h"
#include "vgpu/driver/memory/host.h"

#include <string.h>

/* CUpointer_attribute */
enum pointer_attribute {
    CONTEXT = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    IS_LEGACY_IPC_CAPABLE = 10,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MAPPED = 13,
    ALLOWED_HANDLES = 14,
    IS_RDMA_CAPABLE = 15,
    ACCESS_FLAGS = 16,
    POOL_HANDLE = 17,
    MAPPING_SIZE = 18,
    MAPPING_BASE = 19,
    BLOCK_ID = 20,
    IS_DECOMPRESS_CAPABLE = 21,
};
enum { TYPE_HOST = 1, TYPE_DEVICE = 2 };

struct pointer_target {
    struct plim_device_memory memory; /* of device memory */
    enum plim_ledger_kind host;       /* PLIM_KIND_MAX_: not host memory */
    uint64_t address;
};

static status find(uint64_t address, struct pointer_target *ret_place)
{
    const void *pointer = (const void *)(uintptr_t)address;
    *ret_place = (struct pointer_target){ .host = PLIM_KIND_MAX_, .address = address };
    if (plim_vgpu_is_device(pointer))
        return plim_device_memory_at(address, &ret_place->memory);
    ret_place->host = plim_vgpu_host_range(pointer, &ret_place->memory.base, &ret_place->memory.size);
    return ret_place->host == PLIM_KIND_MAX_ ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_SUCCESS;
}

static status put(void *data, const void *value, size_t size)
{
    memcpy(data, value, size);
    return PLIM_CUDA_SUCCESS;
}

static status put_int(void *data, int value) { return put(data, &value, sizeof value); }
static status put_word(void *data, uint64_t value) { return put(data, &value, sizeof value); }
static status put_bool(void *data, bool value) { return put(data, &value, sizeof value); }

static status answer(void *data, int attribute, const struct pointer_target *place)
{
    const bool is_host = place->host != PLIM_KIND_MAX_, is_managed = place->host == PLIM_KIND_MANAGED;
    void *context;
    switch (attribute) {
    case CONTEXT:
        if (is_host)
            context = plim_context_current();
        else if (cuDevicePrimaryCtxRetain(&context, place->memory.device) ||
                 cuDevicePrimaryCtxRelease_v2(place->memory.device))
            return PLIM_CUDA_INVALID_VALUE;
        return put(data, &context, sizeof context);
    case MEMORY_TYPE:
        return put_int(data, is_host && !is_managed ? TYPE_HOST : TYPE_DEVICE);
    case DEVICE_POINTER:
        return put_word(data, place->address);
    case HOST_POINTER:
        return is_host ? put_word(data, place->address) : PLIM_CUDA_INVALID_VALUE;
    case SYNC_MEMOPS:
        return put_int(data, 0);
    case BUFFER_ID:
    case BLOCK_ID:
        return put_word(data, is_host ? place->memory.base : place->memory.id);
    case IS_MANAGED:
        return put_bool(data, is_managed);
    case DEVICE_ORDINAL:
        return put_int(data, place->memory.device);
    case IS_LEGACY_IPC_CAPABLE:
        return put_bool(data, !is_host && place->memory.kind == PLIM_DEVICE_MEMORY_ALLOC);
    case RANGE_START:
        return put_word(data, place->memory.base);
    case RANGE_SIZE:
        return put_word(data, place->memory.size);
    case MAPPING_SIZE:
        return put_word(data, place->memory.size);
    case MAPPING_BASE:
        return put_word(data, place->memory.base);
    case MAPPED:
        return put_bool(data, true);
    case ALLOWED_HANDLES: {
        struct plim_device_memory_handle handle = { .share = 0 };
        if (!is_host && place->memory.kind == PLIM_DEVICE_MEMORY_MAPPED)
            (void)plim_device_memory_handle_at(place->memory.handle, &handle);
        return put_word(data, handle.share);
    }
    case IS_RDMA_CAPABLE:
    case IS_DECOMPRESS_CAPABLE:
        return put_bool(data, false);
    case ACCESS_FLAGS:
        return put_int(data, 3); /* read and write */
    case POOL_HANDLE:
        context = place->memory.pool;
        return put(data, &context, sizeof context);
    default:
        return PLIM_CUDA_INVALID_VALUE;
    }
}

status cuPointerGetAttribute(void *data, int attribute, device_pointer address)
{
    struct pointer_target place;
    int error;
    plim_vgpu_ledger(&error);
    if (error || !data)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    error = find(address, &place);
    return error ? error : answer(data, attribute, &place);
}

/* The size of an attribute, which is zero for an address that CUDA does not know. */
static size_t width_of(int attribute)
{
    switch (attribute) {
    case MEMORY_TYPE:
    case SYNC_MEMOPS:
    case DEVICE_ORDINAL:
    case ACCESS_FLAGS:
        return sizeof(int);
    case IS_MANAGED:
    case IS_LEGACY_IPC_CAPABLE:
    case MAPPED:
    case IS_RDMA_CAPABLE:
    case IS_DECOMPRESS_CAPABLE:
        return sizeof(bool);
    default:
        return sizeof(uint64_t);
    }
}

/* Unlike cuPointerGetAttribute(), this does not fail for an address that CUDA does not know. */
status cuPointerGetAttributes(unsigned n, const int *attributes, void **data, device_pointer address)
{
    struct pointer_target place;
    int error;
    plim_vgpu_ledger(&error);
    if (error || n == 0 || !attributes || !data)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    const bool is_known = find(address, &place) == PLIM_CUDA_SUCCESS;
    for (unsigned i = 0; i < n; i++) {
        if (is_known && answer(data[i], attributes[i], &place) == PLIM_CUDA_SUCCESS)
            continue;
        memset(data[i], 0, width_of(attributes[i]));
        if (attributes[i] == DEVICE_ORDINAL)
            put_int(data[i], -2); /* the runtime's number for "no device" */
    }
    return PLIM_CUDA_SUCCESS;
}

status cuPointerSetAttribute(const void *value, int attribute, device_pointer address)
{
    struct pointer_target place;
    if (!value || attribute != SYNC_MEMOPS)
        return PLIM_CUDA_INVALID_VALUE;
    return find(address, &place);
}

/* CUmem_range_attribute of managed memory: read mostly, preferred location, accessed by, last prefetch location. */
status cuMemRangeGetAttribute(void *data, size_t size, int attribute, device_pointer address, size_t count)
{
    enum { READ_MOSTLY = 1, ACCESSED_BY = 3, LAST = 4 };
    (void)count;
    const void *pointer = (const void *)(uintptr_t)address;
    if (!data || size < sizeof(int) || attribute < READ_MOSTLY || attribute > LAST ||
        plim_vgpu_host_kind(pointer) != PLIM_KIND_MANAGED)
        return PLIM_CUDA_INVALID_VALUE;
    for (size_t i = 0; i + sizeof(int) <= size; i += sizeof(int))
        put_int((char *)data + i, attribute == READ_MOSTLY ? 0 : -2); /* no location */
    return PLIM_CUDA_SUCCESS;
}

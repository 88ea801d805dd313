/* SPDX-License-Identifier: MIT */
/*
 * libcuda: memory pools and allocation in the order of streams. A pool takes memory of the card in steps of 32 MiB and
 * keeps up to its threshold when the program synchronizes. How the real driver places allocations in a pool is not
 * published: here they fill it without gaps, so the size of a pool is a lower bound.
 */
#include "vgpu/driver/memory/pools.h"

#include "vgpu/driver/contexts.h"
#include "vgpu/driver/graphs/capture.h"
#include "vgpu/driver/memory/device_memory.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t step_bytes = (uint64_t)32 << 20, unit_bytes = 512;

struct pool {
    int device;
    unsigned share;
    bool is_default;
    uint64_t threshold_bytes, used_bytes, used_high_bytes, reserved_bytes, reserved_high_bytes;
    uint64_t max_bytes; /* 0: unlimited */
    struct chunk *chunks;
    int reuse[3]; /* attributes 1 to 3: reuse after events, at once, with added dependencies */
};
_Static_assert(sizeof(struct pool) <= sizeof((struct plim_object *)0)->body, "a pool fits its slot");

/* Memory of the card that a pool has reserved. */
struct chunk {
    uint64_t size;
    uint32_t record;
    struct chunk *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plim_object *defaults[PLIM_LEDGER_MAX_CARDS], *current[PLIM_LEDGER_MAX_CARDS];
static atomic_int n_unsettled; /* something was freed since the last synchronization */

static struct pool *pool_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_POOL);
    return object ? PLIM_BODY(object, pool) : NULL;
}

static struct plim_object *make(int device, unsigned share, uint64_t max_bytes, bool is_default)
{
    const struct pool pool = {
        .device = device, .share = share, .is_default = is_default, .max_bytes = max_bytes, .reuse = { 1, 1, 1 }
    };
    return plim_object_make(PLIM_OBJECT_POOL, &pool, sizeof pool);
}

/* With the lock held. */
static struct plim_object *default_of(int device)
{
    if (!defaults[device])
        defaults[device] = make(device, 0, 0, true);
    return defaults[device];
}

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

static status grow(struct pool *pool, uint64_t size)
{
    struct chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *chunk = (struct chunk){ round_up(size, step_bytes), 0, pool->chunks };
    status error = plim_vgpu_charge(pool->device, PLIM_KIND_VMM, chunk->size, &chunk->record);
    if (error) {
        free(chunk);
        return error;
    }
    pool->chunks = chunk;
    pool->reserved_bytes += chunk->size;
    if (pool->reserved_bytes > pool->reserved_high_bytes)
        pool->reserved_high_bytes = pool->reserved_bytes;
    return PLIM_CUDA_SUCCESS;
}

/* Free chunks as long as the used and the kept bytes fit into the rest. */
static void trim(struct pool *pool, uint64_t keep_bytes)
{
    for (struct chunk **link = &pool->chunks; *link;) {
        struct chunk *chunk = *link;
        const uint64_t rest = pool->reserved_bytes - chunk->size;
        if (rest < pool->used_bytes || rest < keep_bytes) {
            link = &chunk->next;
            continue;
        }
        *link = chunk->next;
        pool->reserved_bytes = rest;
        plim_vgpu_uncharge(chunk->record);
        free(chunk);
    }
}

void plim_pools_settle(void)
{
    if (atomic_load_explicit(&n_unsettled, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&n_unsettled, 0);
    for (int d = 0; d < PLIM_LEDGER_MAX_CARDS; d++) {
        if (defaults[d])
            trim(PLIM_BODY(defaults[d], pool), PLIM_BODY(defaults[d], pool)->threshold_bytes);
        if (current[d] && current[d] != defaults[d])
            trim(PLIM_BODY(current[d], pool), PLIM_BODY(current[d], pool)->threshold_bytes);
    }
    pthread_mutex_unlock(&lock);
}

/* --- pools --- */

status cuDeviceGetDefaultMemPool(void **ret_pool, int device)
{
    status error = plim_context_check_device(device);
    if (error || !ret_pool)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *ret_pool = default_of(device);
    pthread_mutex_unlock(&lock);
    return *ret_pool ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
}

status cuDeviceGetMemPool(void **ret_pool, int device)
{
    status error = cuDeviceGetDefaultMemPool(ret_pool, device);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    if (current[device])
        *ret_pool = current[device];
    pthread_mutex_unlock(&lock);
    return PLIM_CUDA_SUCCESS;
}

status cuDeviceSetMemPool(int device, void *handle)
{
    status error = plim_context_check_device(device);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    const struct pool *pool = pool_of(handle);
    if (pool && pool->device == device)
        current[device] = handle;
    else
        error = PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return error;
}

status cuMemGetDefaultMemPool(void **ret_pool, const struct cu_location *location, int type)
{
    enum { PINNED = 1, ON_DEVICE = 1 };
    if (!location)
        return PLIM_CUDA_INVALID_VALUE;
    return location->type == ON_DEVICE && type == PINNED ? cuDeviceGetDefaultMemPool(ret_pool, location->id)
                                                         : PLIM_CUDA_NOT_SUPPORTED;
}

status cuMemPoolCreate(void **ret_pool, const struct cu_pool_properties *properties)
{
    enum { PINNED = 1, ON_DEVICE = 1, FABRIC = 8 };
    if (!ret_pool || !properties)
        return PLIM_CUDA_INVALID_VALUE;
    if (properties->type != PINNED || properties->location.type != ON_DEVICE || properties->handle_types & FABRIC)
        return PLIM_CUDA_NOT_SUPPORTED;
    status error = plim_context_check_device(properties->location.id);
    if (!error) {
        *ret_pool = make(properties->location.id, (unsigned)properties->handle_types, properties->max_bytes, false);
        error = *ret_pool ? PLIM_CUDA_SUCCESS : PLIM_CUDA_OUT_OF_MEMORY;
    }
    return error;
}

/* Allocations that are still in use are freed at once; the reference defers that to their cuMemFreeAsync. */
status cuMemPoolDestroy(void *handle)
{
    pthread_mutex_lock(&lock);
    struct pool *pool = pool_of(handle);
    const bool is_right = pool && !pool->is_default;
    if (is_right) {
        if (current[pool->device] == handle)
            current[pool->device] = NULL;
        pool->used_bytes = 0;
        trim(pool, 0);
        plim_object_drop(handle);
    }
    pthread_mutex_unlock(&lock);
    return is_right ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

status cuMemPoolTrimTo(void *handle, size_t keep_bytes)
{
    pthread_mutex_lock(&lock);
    struct pool *pool = pool_of(handle);
    if (pool)
        trim(pool, keep_bytes);
    pthread_mutex_unlock(&lock);
    return pool ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* CUmemPool_attribute */
enum pool_attribute {
    REUSE_FIRST = 1,
    REUSE_LAST = 3,
    RELEASE_THRESHOLD = 4,
    RESERVED_CURRENT = 5,
    RESERVED_HIGH = 6,
    USED_CURRENT = 7,
    USED_HIGH = 8,
    ALLOCATION_TYPE = 9,
    EXPORT_HANDLE_TYPES = 10,
    LOCATION_ID = 11,
    LOCATION_TYPE = 12,
    MAX_POOL_SIZE = 13,
};

static status put_word(void *value, uint64_t word)
{
    memcpy(value, &word, sizeof word);
    return PLIM_CUDA_SUCCESS;
}

static status put_int(void *value, int number)
{
    memcpy(value, &number, sizeof number);
    return PLIM_CUDA_SUCCESS;
}

static status get_attribute(const struct pool *pool, int attribute, void *value)
{
    switch (attribute) {
    case RELEASE_THRESHOLD:
        return put_word(value, pool->threshold_bytes);
    case RESERVED_CURRENT:
        return put_word(value, pool->reserved_bytes);
    case RESERVED_HIGH:
        return put_word(value, pool->reserved_high_bytes);
    case USED_CURRENT:
        return put_word(value, pool->used_bytes);
    case USED_HIGH:
        return put_word(value, pool->used_high_bytes);
    case MAX_POOL_SIZE:
        return put_word(value, pool->max_bytes);
    case ALLOCATION_TYPE:
    case LOCATION_TYPE:
        return put_int(value, 1); /* pinned; on a device */
    case EXPORT_HANDLE_TYPES:
        return put_int(value, (int)pool->share);
    case LOCATION_ID:
        return put_int(value, pool->device);
    default:
        return attribute >= REUSE_FIRST && attribute <= REUSE_LAST
                   ? put_int(value, pool->reuse[attribute - REUSE_FIRST])
                   : PLIM_CUDA_INVALID_VALUE;
    }
}

status cuMemPoolGetAttribute(void *handle, int attribute, void *value)
{
    pthread_mutex_lock(&lock);
    const struct pool *pool = pool_of(handle);
    const status error = pool && value ? get_attribute(pool, attribute, value) : PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return error;
}

static status set_attribute(struct pool *pool, int attribute, const void *value)
{
    uint64_t word = 0;
    if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
        memcpy(&pool->reuse[attribute - REUSE_FIRST], value, sizeof(int));
        return PLIM_CUDA_SUCCESS;
    }
    if (attribute != RELEASE_THRESHOLD && attribute != RESERVED_HIGH && attribute != USED_HIGH)
        return PLIM_CUDA_INVALID_VALUE;
    memcpy(&word, value, sizeof word);
    if (attribute == RELEASE_THRESHOLD)
        pool->threshold_bytes = word;
    else if (word != 0) /* high-water marks can only be reset */
        return PLIM_CUDA_INVALID_VALUE;
    else if (attribute == RESERVED_HIGH)
        pool->reserved_high_bytes = pool->reserved_bytes;
    else
        pool->used_high_bytes = pool->used_bytes;
    return PLIM_CUDA_SUCCESS;
}

status cuMemPoolSetAttribute(void *handle, int attribute, const void *value)
{
    pthread_mutex_lock(&lock);
    struct pool *pool = pool_of(handle);
    const status error = pool && value ? set_attribute(pool, attribute, value) : PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return error;
}

status cuMemPoolSetAccess(void *pool, const void *access, size_t count)
{
    return pool_of(pool) && (access || count == 0) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* Peers have access to all memory here. */
status cuMemPoolGetAccess(int *ret_access, void *pool, const struct cu_location *location)
{
    enum { READ_WRITE = 3 };
    if (!pool_of(pool) || !location || !ret_access)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_access = READ_WRITE;
    return PLIM_CUDA_SUCCESS;
}

/* --- allocations --- */

static status take(struct plim_object *object, size_t size, uint64_t *ret_address)
{
    struct pool *pool = PLIM_BODY(object, pool);
    const uint64_t whole = round_up(size, unit_bytes);
    status error = PLIM_CUDA_SUCCESS;
    if (size > (size_t)1 << 50)
        return PLIM_CUDA_OUT_OF_MEMORY;
    if (pool->max_bytes && pool->used_bytes + whole > pool->max_bytes)
        return PLIM_CUDA_OUT_OF_MEMORY;
    const uint64_t spare = pool->reserved_bytes - pool->used_bytes;
    if (spare < whole)
        error = grow(pool, whole - spare);
    if (!error &&
        !(error = plim_device_memory_place(PLIM_DEVICE_MEMORY_POOL, pool->device, whole, object, ret_address))) {
        pool->used_bytes += whole;
        if (pool->used_bytes > pool->used_high_bytes)
            pool->used_high_bytes = pool->used_bytes;
    }
    return error;
}

status cuMemAllocFromPoolAsync(device_pointer *ret_address, size_t size, void *handle, void *stream)
{
    uint64_t address = 0;
    status error = plim_context_need();
    if (error || !ret_address || size == 0 || !pool_of(handle))
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    if ((error = plim_capture_work(stream, PLIM_NODE_MEM_ALLOC, NULL, NULL, NULL)))
        return error;
    pthread_mutex_lock(&lock);
    error = pool_of(handle) ? take(handle, size, &address) : PLIM_CUDA_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    if (!error)
        *ret_address = address;
    return error;
}

status cuMemAllocAsync(device_pointer *ret_address, size_t size, void *stream)
{
    void *pool;
    status error = plim_context_need();
    if (error || (error = cuDeviceGetMemPool(&pool, plim_context_device())))
        return error;
    return cuMemAllocFromPoolAsync(ret_address, size, pool, stream);
}

status plim_pool_free(device_pointer address)
{
    struct plim_device_memory memory;
    pthread_mutex_lock(&lock);
    status error = plim_device_memory_unplace(PLIM_DEVICE_MEMORY_POOL, address, &memory);
    struct pool *pool = error ? NULL : pool_of(memory.pool);
    if (pool) {
        pool->used_bytes -= memory.size < pool->used_bytes ? memory.size : pool->used_bytes;
        atomic_store(&n_unsettled, 1);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* --- memory of graphs: taken from the pool of the device, so nothing is kept for them alone --- */

enum { GRAPH_USED = 0, GRAPH_USED_HIGH = 1, GRAPH_RESERVED = 2, GRAPH_RESERVED_HIGH = 3 };

status cuDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    status error = plim_context_check_device(device);
    if (error || !value || attribute < GRAPH_USED || attribute > GRAPH_RESERVED_HIGH)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    return put_word(value, 0);
}

status cuDeviceSetGraphMemAttribute(int device, int attribute, const void *value)
{
    status error = plim_context_check_device(device);
    if (error || !value || (attribute != GRAPH_USED_HIGH && attribute != GRAPH_RESERVED_HIGH))
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    return PLIM_CUDA_SUCCESS;
}

status cuDeviceGraphMemTrim(int device) { return plim_context_check_device(device); }

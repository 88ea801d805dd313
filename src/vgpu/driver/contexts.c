/* SPDX-License-Identifier: MIT */
/*
 * Contexts. A primary context is active while it is retained. The memory of a context is charged the first time and
 * stays charged until the process ends.
 */
#include "vgpu/driver/contexts.h"

#include "vgpu/core/cuda_api.h"

#include <string.h>

enum { MAX_STACK = 64, MAX_LIMITS = 16 };

struct context {
    int device;
    unsigned flags, n_retained; /* n_retained: of a primary context */
    bool is_primary;
    uint64_t
        limit[MAX_LIMITS / 2]; /* CUlimit: stack, printf, malloc heap, sync depth, pending launches, L2, persisting */
};
_Static_assert(sizeof(struct context) <= sizeof((struct plim_object *)0)->body, "a context fits its slot");

static struct plim_object *_Atomic primary[PLIM_LEDGER_MAX_CARDS];
static _Thread_local struct plim_object *stack[MAX_STACK];
static _Thread_local int n_stack;

/* Defaults of the runtime documentation: stack 1 KiB, printf 1 MiB, heap 8 MiB, depth 2, launches 2048, L2 64 B. */
static const uint64_t limits[MAX_LIMITS / 2] = { 1024, 1 << 20, 8 << 20, 2, 2048, 64, 0, 0 };

status plim_context_check_device(int device)
{
    int error;
    plim_vgpu_ledger(&error);
    return error ? error : plim_vgpu_card(device) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_DEVICE;
}

static struct plim_object *top(void) { return n_stack > 0 ? stack[n_stack - 1] : NULL; }

static struct context *body_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_CONTEXT);
    return object ? PLIM_BODY(object, context) : NULL;
}

void *plim_context_current(void) { return top(); }

int plim_context_device_of(const void *handle)
{
    const struct context *context = body_of(handle);
    return context ? context->device : -1;
}

int plim_context_device(void) { return top() ? PLIM_BODY(top(), context)->device : -1; }

int plim_vgpu_current_device(void) { return plim_context_device(); }

status plim_context_need(void)
{
    int error;
    plim_vgpu_ledger(&error);
    return error ? error : top() ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_CONTEXT;
}

static struct plim_object *make(int device, unsigned flags, bool is_primary)
{
    struct context context = { .device = device, .flags = flags, .is_primary = is_primary };
    memcpy(context.limit, limits, sizeof limits);
    return plim_object_make(PLIM_OBJECT_CONTEXT, &context, sizeof context);
}

/* The primary context of a device, made at its first use. */
static struct plim_object *primary_of(int device)
{
    struct plim_object *object = atomic_load(&primary[device]);
    if (object)
        return object;
    plim_objects_lock();
    if (!(object = atomic_load(&primary[device])))
        atomic_store(&primary[device], object = make(device, 0, true));
    plim_objects_unlock();
    return object;
}

/* --- primary contexts --- */

status cuDevicePrimaryCtxRetain(void **ret_context, int device)
{
    status error = plim_context_check_device(device);
    if (error || (error = plim_vgpu_need_context(device)))
        return error;
    struct plim_object *object = primary_of(device);
    if (!ret_context || !object)
        return ret_context ? PLIM_CUDA_OUT_OF_MEMORY : PLIM_CUDA_INVALID_VALUE;
    plim_objects_lock();
    PLIM_BODY(object, context)->n_retained++;
    plim_objects_unlock();
    *ret_context = object;
    return PLIM_CUDA_SUCCESS;
}

status cuDevicePrimaryCtxRelease_v2(int device)
{
    status error = plim_context_check_device(device);
    if (error)
        return error;
    struct plim_object *object = primary_of(device);
    if (!object)
        return PLIM_CUDA_OUT_OF_MEMORY;
    plim_objects_lock();
    struct context *context = PLIM_BODY(object, context);
    if (context->n_retained == 0)
        error = PLIM_CUDA_INVALID_CONTEXT;
    else
        context->n_retained--;
    plim_objects_unlock();
    return error;
}

void plim_context_release_all(int device)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *object = atomic_load(&primary[device]);
    if (object)
        PLIM_BODY(object, context)->n_retained = 0;
}

status cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    status error = plim_context_check_device(device);
    struct plim_object *object = error ? NULL : primary_of(device);
    if (object) {
        PLIM_OBJECTS_LOCKED;
        PLIM_BODY(object, context)->flags = flags;
    }
    return error;
}

status cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    status error = plim_context_check_device(device);
    if (error)
        return error;
    PLIM_OBJECTS_LOCKED;
    const struct plim_object *object = atomic_load(&primary[device]);
    *flags = object ? PLIM_BODY(object, context)->flags : 0;
    *is_active = object && PLIM_BODY(object, context)->n_retained > 0;
    return PLIM_CUDA_SUCCESS;
}

/* --- contexts of the program --- */

static status push(struct plim_object *object)
{
    if (n_stack == MAX_STACK)
        return PLIM_CUDA_OUT_OF_MEMORY;
    stack[n_stack++] = object;
    return PLIM_CUDA_SUCCESS;
}

status cuCtxCreate_v2(void **ret_context, unsigned flags, int device)
{
    status error = plim_context_check_device(device);
    if (error || !ret_context)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    if ((error = plim_vgpu_need_context(device)))
        return error;
    struct plim_object *object = make(device, flags, false);
    if (!object || push(object))
        return PLIM_CUDA_OUT_OF_MEMORY;
    *ret_context = object;
    return PLIM_CUDA_SUCCESS;
}

status cuCtxCreate_v3(void **ret_context, void *affinity, int n_affinity, unsigned flags, int device)
{
    (void)affinity, (void)n_affinity;
    return cuCtxCreate_v2(ret_context, flags, device);
}

status cuCtxCreate_v4(void **ret_context, void *parameters, unsigned flags, int device)
{
    (void)parameters;
    return cuCtxCreate_v2(ret_context, flags, device);
}

status cuCtxDestroy_v2(void *handle)
{
    PLIM_OBJECTS_LOCKED;
    const struct context *context = body_of(handle);
    if (!context || context->is_primary)
        return PLIM_CUDA_INVALID_CONTEXT;
    if (top() == handle)
        n_stack--;
    plim_object_drop(handle);
    return PLIM_CUDA_SUCCESS;
}

status cuCtxPushCurrent_v2(void *handle) { return body_of(handle) ? push(handle) : PLIM_CUDA_INVALID_CONTEXT; }

status cuCtxPopCurrent_v2(void **ret_context)
{
    if (n_stack == 0)
        return PLIM_CUDA_INVALID_CONTEXT;
    n_stack--;
    if (ret_context)
        *ret_context = stack[n_stack];
    return PLIM_CUDA_SUCCESS;
}

/* --- the current context --- */

status cuCtxGetCurrent(void **ret_context)
{
    int error;
    plim_vgpu_ledger(&error);
    if (!error)
        *ret_context = top();
    return error;
}

/* Replaces the top of the stack. */
status cuCtxSetCurrent(void *handle)
{
    int error;
    plim_vgpu_ledger(&error);
    if (error)
        return error;
    if (handle && !body_of(handle))
        return PLIM_CUDA_INVALID_CONTEXT;
    if (n_stack > 0)
        n_stack--;
    return handle ? push(handle) : PLIM_CUDA_SUCCESS;
}

status cuCtxGetDevice(int *device)
{
    status error = plim_context_need();
    if (!error)
        *device = plim_context_device();
    return error;
}

/* NULL: the current context. */
static struct context *chosen(const void *handle)
{
    return handle ? body_of(handle) : top() ? PLIM_BODY(top(), context) : NULL;
}

status cuCtxGetDevice_v2(int *device, void *handle)
{
    const struct context *context = chosen(handle);
    if (context)
        *device = context->device;
    return context ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_CONTEXT;
}

status cuCtxGetId(void *handle, unsigned long long *id)
{
    const struct plim_object *object = handle ? plim_object_of(handle, PLIM_OBJECT_CONTEXT) : top();
    if (object)
        *id = object->id;
    return object ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_CONTEXT;
}

status cuCtxGetApiVersion(void *handle, unsigned *version)
{
    if (!chosen(handle))
        return PLIM_CUDA_INVALID_CONTEXT;
    *version = 3020; /* of every context since CUDA 3.2 */
    return PLIM_CUDA_SUCCESS;
}

status cuCtxGetFlags(unsigned *flags)
{
    status error = plim_context_need();
    PLIM_OBJECTS_LOCKED;
    if (!error)
        *flags = chosen(NULL)->flags;
    return error;
}

status cuCtxSetFlags(unsigned flags)
{
    status error = plim_context_need();
    PLIM_OBJECTS_LOCKED;
    if (!error)
        chosen(NULL)->flags = flags;
    return error;
}

status cuCtxGetLimit(size_t *value, int limit)
{
    status error = plim_context_need();
    if (error)
        return error;
    if (limit < 0 || limit >= MAX_LIMITS / 2)
        return PLIM_CUDA_INVALID_VALUE;
    PLIM_OBJECTS_LOCKED;
    *value = chosen(NULL)->limit[limit];
    return PLIM_CUDA_SUCCESS;
}

status cuCtxSetLimit(int limit, size_t value)
{
    status error = plim_context_need();
    if (error)
        return error;
    if (limit < 0 || limit >= MAX_LIMITS / 2)
        return PLIM_CUDA_INVALID_VALUE;
    PLIM_OBJECTS_LOCKED;
    chosen(NULL)->limit[limit] = value;
    return PLIM_CUDA_SUCCESS;
}

status cuCtxGetCacheConfig(int *configuration)
{
    status error = plim_context_need();
    if (!error)
        *configuration = 0;
    return error;
}

status cuCtxSetCacheConfig(int configuration)
{
    (void)configuration;
    return plim_context_need();
}

status cuCtxGetSharedMemConfig(int *configuration)
{
    status error = plim_context_need();
    if (!error)
        *configuration = 1; /* banks of 4 bytes */
    return error;
}

status cuCtxSetSharedMemConfig(int configuration)
{
    (void)configuration;
    return plim_context_need();
}

status cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    status error = plim_context_need();
    if (!error && least)
        *least = 0;
    if (!error && greatest)
        *greatest = -5;
    return error;
}

status cuCtxResetPersistingL2Cache(void) { return plim_context_need(); }

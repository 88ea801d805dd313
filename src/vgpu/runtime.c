/* SPDX-License-Identifier: MIT */
/* libcudart: devices, errors, memory. */
#include "vgpu/runtime.h"

#include "vgpu/properties.h"
#include "vgpu/steps.h"

static _Thread_local int device;
static _Thread_local status last_error;
static _Thread_local int device_of_context = -1; /* what the driver was told */

status plim_runtime_fail(status error)
{
    if (error)
        last_error = error;
    return error;
}

int plim_runtime_device(void) { return device; }

static status loaded(void)
{
    int error;
    plim_vgpu_ledger(&error);
    return error;
}

status plim_runtime_ready(void)
{
    void *context;
    status error = loaded();
    if (error || (error = plim_vgpu_need_context(device)))
        return plim_runtime_fail(error);
    if (device_of_context != device) {
        if ((error = cuDevicePrimaryCtxRetain(&context, device)) || (error = cuCtxSetCurrent(context)))
            return plim_runtime_fail(error);
        device_of_context = device;
    }
    return PLIM_CUDA_SUCCESS;
}

/* --- errors --- */

status cudaGetLastError(void)
{
    status error = last_error;
    last_error = PLIM_CUDA_SUCCESS;
    return error;
}

status cudaPeekAtLastError(void) { return last_error; }
const char *cudaGetErrorString(status error) { return plim_vgpu_error_text(error); }
const char *cudaGetErrorName(status error) { return plim_vgpu_error_name(error, true); }

/* --- devices --- */

status cudaRuntimeGetVersion(int *version)
{
    *version = PLIM_CUDART == 12 ? 12090 : 13000;
    return PLIM_CUDA_SUCCESS;
}

status cudaDriverGetVersion(int *version) { return cuDriverGetVersion(version); }

status cudaGetDeviceCount(int *count)
{
    status error = loaded();
    *count = error ? 0 : plim_vgpu_n_cards();
    return plim_runtime_fail(error);
}

status cudaGetDevice(int *ret_device)
{
    *ret_device = device;
    return plim_runtime_fail(loaded());
}

static status check_device(int number)
{
    status error = loaded();
    return plim_runtime_fail(error ? error : plim_vgpu_card(number) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_DEVICE);
}

/* Since CUDA 12 this makes the context. */
status cudaSetDevice(int number)
{
    status error = check_device(number);
    if (error)
        return error;
    device = number;
    return plim_runtime_ready();
}

status cudaInitDevice(int number, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    status error = check_device(number);
    return error ? error : plim_runtime_fail(plim_vgpu_need_context(number));
}

status cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    return plim_runtime_fail(loaded());
}

status cudaGetDeviceFlags(unsigned *flags)
{
    *flags = 0;
    return plim_runtime_fail(loaded());
}

#if PLIM_CUDART == 12
status cudaGetDeviceProperties_v2(void *ret_properties, int number)
#else
status cudaGetDeviceProperties(void *ret_properties, int number)
#endif
{
    status error = check_device(number);
    if (!error)
        plim_properties(ret_properties, number);
    return error;
}

status cudaDeviceGetAttribute(int *value, int attribute, int number)
{
    return plim_runtime_fail(cuDeviceGetAttribute(value, attribute, number));
}

status cudaDeviceGetPCIBusId(char *text, int size, int number)
{
    return plim_runtime_fail(cuDeviceGetPCIBusId(text, size, number));
}

status cudaDeviceGetByPCIBusId(int *number, const char *text)
{
    return plim_runtime_fail(cuDeviceGetByPCIBusId(number, text));
}

status cudaDeviceCanAccessPeer(int *can, int number, int peer)
{
    status error = check_device(number);
    if (!error && !(error = check_device(peer)))
        *can = number != peer;
    return error;
}

status cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    return check_device(peer);
}

status cudaDeviceDisablePeerAccess(int peer) { return check_device(peer); }

status cudaDeviceSynchronize(void)
{
    plim_vgpu_waited();
    return plim_runtime_ready();
}

/* --- memory --- */

status cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuMemGetInfo_v2(free_bytes, total_bytes));
}

status cudaMalloc(void **pointer, size_t size)
{
    device_pointer address = 0;
    if (!pointer)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    status error = plim_runtime_ready();
    if (!error && size > 0) /* nothing asked for: a null pointer and no error, unlike the driver */
        error = cuMemAlloc_v2(&address, size);
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return plim_runtime_fail(error);
}

status cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    device_pointer address;
    status error = plim_runtime_ready();
    if (!error && !(error = cuMemAllocManaged(&address, size, flags)))
        *pointer = (void *)(uintptr_t)address;
    return plim_runtime_fail(error);
}

status cudaFree(void *pointer)
{
    status error = plim_runtime_ready(); /* cudaFree(0) is the customary way to make a context */
    return error ? error : plim_runtime_fail(cuMemFree_v2((device_pointer)(uintptr_t)pointer));
}

status cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuMemHostAlloc(pointer, size, flags));
}

status cudaMallocHost(void **pointer, size_t size) { return cudaHostAlloc(pointer, size, 0); }

status cudaFreeHost(void *pointer)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuMemFreeHost(pointer));
}

status cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    (void)flags;
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(plim_vgpu_host_register(pointer, size));
}

status cudaHostUnregister(void *pointer)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(plim_vgpu_host_free(pointer, true));
}

status cudaHostGetDevicePointer(void **device_address, void *host, unsigned flags)
{
    (void)flags;
    if (plim_vgpu_host_kind(host) == PLIM_KIND_MAX_)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    *device_address = host;
    return PLIM_CUDA_SUCCESS;
}

/* A hint about managed memory: its last parameter differs between 12 and 13, and nothing of it is read. */
status cudaMemAdvise(const void *pointer, size_t size, int advice)
{
    (void)pointer, (void)size, (void)advice;
    return plim_runtime_ready();
}

/* cudaPointerAttributes: type (0 unregistered, 1 host, 2 device, 3 managed), device, address there, address here. */
struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
#if PLIM_CUDART >= 13
    long reserved[8];
#endif
};
_Static_assert(sizeof(struct pointer_attributes) == (PLIM_CUDART >= 13 ? 88 : 24), "cudaPointerAttributes");

status cudaPointerGetAttributes(struct pointer_attributes *attributes, const void *pointer)
{
    device_pointer base;
    size_t size;
    status error = plim_runtime_ready();
    if (error)
        return error;
    *attributes = (struct pointer_attributes){ .type = 0, .device = -2, .host_pointer = (void *)(uintptr_t)pointer };
    enum plim_ledger_kind kind = plim_vgpu_host_kind(pointer);
    if (plim_vgpu_is_device(pointer)) {
        if (cuMemGetAddressRange_v2(&base, &size, (device_pointer)(uintptr_t)pointer))
            return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
        *attributes =
            (struct pointer_attributes){ .type = 2, .device = device, .device_pointer = (void *)(uintptr_t)pointer };
    } else if (kind != PLIM_KIND_MAX_) {
        attributes->type = kind == PLIM_KIND_MANAGED ? 3 : 1;
        attributes->device = device;
        attributes->device_pointer = (void *)(uintptr_t)pointer;
    }
    return PLIM_CUDA_SUCCESS;
}

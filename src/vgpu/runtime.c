/* SPDX-License-Identifier: MIT */
/* libcudart: devices, errors, memory, copies. Device memory holds nothing, so what comes back from it is zero. */
#include "vgpu/runtime.h"

#include "vgpu/properties.h"

#include <string.h>

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
status cudaDeviceSynchronize(void) { return plim_runtime_ready(); }

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

/* --- copies --- */

/* Managed memory beyond this is not written: a model there would take as much of the host as the model is large. */
enum { MANAGED_COPY_BYTES = 64 << 10 };

static void copy(void *to, const void *from, size_t size)
{
    if (size == 0 || plim_vgpu_is_device(to))
        return;
    if (size > MANAGED_COPY_BYTES && plim_vgpu_host_kind(to) == PLIM_KIND_MANAGED)
        return;
    if (plim_vgpu_is_device(from))
        memset(to, 0, size);
    else
        memmove(to, from, size);
}

status cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    (void)kind;
    status error = plim_runtime_stream(stream);
    if (error)
        return error;
    copy(to, from, size);
    plim_runtime_capture(stream);
    return PLIM_CUDA_SUCCESS;
}

status cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
    return cudaMemcpyAsync(to, from, size, kind, NULL);
}

status cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         int kind, void *stream)
{
    (void)kind;
    status error = plim_runtime_stream(stream);
    if (error)
        return error;
    for (size_t row = 0; row < height && !plim_vgpu_is_device(to); row++)
        copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
    plim_runtime_capture(stream);
    return PLIM_CUDA_SUCCESS;
}

status cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                    int kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

status cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, void *stream)
{
    (void)to_device, (void)from_device;
    return cudaMemcpyAsync(to, from, size, 4, stream);
}

status cudaMemsetAsync(void *pointer, int value, size_t size, void *stream)
{
    status error = plim_runtime_stream(stream);
    if (error)
        return error;
    if (!plim_vgpu_is_device(pointer) && plim_vgpu_host_kind(pointer) != PLIM_KIND_MAX_ && size <= MANAGED_COPY_BYTES)
        memset(pointer, value, size);
    plim_runtime_capture(stream);
    return PLIM_CUDA_SUCCESS;
}

status cudaMemset(void *pointer, int value, size_t size) { return cudaMemsetAsync(pointer, value, size, NULL); }

/* SPDX-License-Identifier: MIT */
/* libcudart: devices, errors, memory. */
#include "vgpu/runtime/runtime.h"

#include "vgpu/driver/contexts.h"
#include "vgpu/driver/launches.h"
#include "vgpu/driver/memory/host.h"
#include "vgpu/runtime/properties.h"
#include "vgpu/runtime/runtime_api.h"

/* As cudaSetDevice() said; a current context of the driver, whoever made it so, goes before it. */
static _Thread_local int chosen_device;
static _Thread_local status last_error;
static void *_Atomic primary[PLIM_LEDGER_MAX_CARDS]; /* the contexts that the runtime retains */

status plim_runtime_fail(status error)
{
    if (error)
        last_error = error;
    return error;
}

int plim_runtime_device(void)
{
    const int current = plim_vgpu_current_device();
    return current >= 0 ? current : chosen_device;
}

static status loaded(void) { return cuInit(0); }

/* The primary context of a device becomes the current one, as for all that use the runtime. */
static status use(int device)
{
    void *context = atomic_load(&primary[device]);
    status error = PLIM_CUDA_SUCCESS;
    if (!context) {
        if ((error = cuDevicePrimaryCtxRetain(&context, device)))
            return error;
        atomic_store(&primary[device], context);
    }
    return (error = plim_vgpu_need_context(device)) ? error : cuCtxSetCurrent(context);
}

status plim_runtime_ready(void)
{
    status error = loaded();
    if (error)
        return plim_runtime_fail(error);
    const int current = plim_vgpu_current_device();
    return plim_runtime_fail(current >= 0 ? plim_vgpu_need_context(current) : use(chosen_device));
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
    *version = PLIM_CUDART == 11 ? 11080 : PLIM_CUDART == 12 ? 12080 : 13020;
    return PLIM_CUDA_SUCCESS;
}

status cudaDriverGetVersion(int *version) { return cuDriverGetVersion(version); }

status cudaGetDeviceCount(int *count)
{
    status error = count ? loaded() : PLIM_CUDA_INVALID_VALUE;
    if (count)
        *count = error ? 0 : plim_vgpu_n_cards();
    return plim_runtime_fail(error);
}

status cudaGetDevice(int *ret_device)
{
    if (!ret_device)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    *ret_device = plim_runtime_device();
    return plim_runtime_fail(loaded());
}

static status check_device(int number)
{
    status error = loaded();
    return plim_runtime_fail(error ? error : plim_vgpu_card(number) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_DEVICE);
}

/* Since CUDA 12 this makes the context; before, the next call that needs one does. */
status cudaSetDevice(int number)
{
    status error = check_device(number);
    if (error)
        return error;
    void *current;
    chosen_device = number;
    if (!cuCtxGetCurrent(&current) && current && current == atomic_load(&primary[number]))
        return plim_runtime_fail(plim_vgpu_need_context(number));
    if (PLIM_CUDART < 12 && !atomic_load(&primary[number]))
        return plim_runtime_fail(cuCtxSetCurrent(NULL));
    return plim_runtime_fail(use(number));
}

/* The next call makes a new context. */
status cudaDeviceReset(void)
{
    void *current;
    const int device = plim_runtime_device();
    status error = loaded();
    if (error || (error = cuDevicePrimaryCtxReset_v2(device)))
        return plim_runtime_fail(error);
    const void *old = atomic_exchange(&primary[device], NULL);
    chosen_device = device;
    if (!cuCtxGetCurrent(&current) && current == old)
        (void)cuCtxSetCurrent(NULL);
    last_error = PLIM_CUDA_SUCCESS;
    return PLIM_CUDA_SUCCESS;
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

static status properties(void *ret_properties, int number, enum plim_properties_layout layout)
{
    status error = check_device(number);
    if (!error)
        plim_properties(ret_properties, number, layout);
    return error;
}

#if PLIM_CUDART == 12
status cudaGetDeviceProperties_v2(void *ret_properties, int number)
{
    return properties(ret_properties, number, PLIM_PROPERTIES_12);
}
#endif

status cudaGetDeviceProperties(void *ret_properties, int number)
{
    return properties(ret_properties, number, PLIM_CUDART >= 13 ? PLIM_PROPERTIES_13 : PLIM_PROPERTIES_11);
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
    return error || (error = check_device(peer)) ? error : plim_runtime_fail(cuDeviceCanAccessPeer(can, number, peer));
}

/* The context of another device, for one call. */
static status with_peer(int peer, status (*call)(void *context))
{
    void *context;
    status error = plim_runtime_ready();
    if (!error && !(error = check_device(peer)) && !(error = cuDevicePrimaryCtxRetain(&context, peer))) {
        error = call(context);
        (void)cuDevicePrimaryCtxRelease_v2(peer);
    }
    return plim_runtime_fail(error);
}

static status enable(void *context) { return cuCtxEnablePeerAccess(context, 0); }

status cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return flags ? plim_runtime_fail(PLIM_CUDA_INVALID_VALUE) : with_peer(peer, enable);
}

status cudaDeviceDisablePeerAccess(int peer) { return with_peer(peer, cuCtxDisablePeerAccess); }

status cudaDeviceSynchronize(void)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuCtxSynchronize());
}

status cudaStreamCreate(void **stream)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuStreamCreate(stream, 0));
}

status cudaEventCreate(void **event)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuEventCreate(event, 0));
}

status plim_runtime_stream(void *stream)
{
    status error = plim_runtime_ready();
    return error ? error
                 : plim_runtime_fail(plim_vgpu_is_stream(stream) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE);
}

/* --- the driver's functions --- */

/* A missing function is not an error if the caller takes *ret_status, which says so. */
status cudaGetDriverEntryPointByVersion(const char *name, void **ret_function, unsigned version, uint64_t flags,
                                        int *ret_status)
{
    int found;
    status error = loaded();
    if (error == PLIM_CUDA_NO_DEVICE) /* the driver exists without a device, too */
        error = PLIM_CUDA_SUCCESS;
    if (error)
        return plim_runtime_fail(error);
    error = cuGetProcAddress_v2(name, ret_function, (int)version, flags, &found);
    if (error != PLIM_CUDA_INVALID_VALUE && ret_status) {
        *ret_status = found;
        error = PLIM_CUDA_SUCCESS;
    }
    return plim_runtime_fail(error);
}

#if PLIM_CUDART >= 12
status cudaGetDriverEntryPoint(const char *name, void **ret_function, uint64_t flags, int *ret_status)
{
#else
status cudaGetDriverEntryPoint(const char *name, void **ret_function, uint64_t flags)
{
    int *ret_status = NULL;
#endif
    int version;
    (void)cudaRuntimeGetVersion(&version);
    return cudaGetDriverEntryPointByVersion(name, ret_function, (unsigned)version, flags, ret_status);
}

/* For profilers: there is nothing to start or stop. */
status cudaProfilerStart(void) { return plim_runtime_ready(); }
status cudaProfilerStop(void) { return plim_runtime_ready(); }

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
    if (!error && size > 0) /* size 0 gives a null pointer and no error, unlike the driver */
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
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuMemHostRegister_v2(pointer, size, flags));
}

status cudaHostUnregister(void *pointer)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuMemHostUnregister(pointer));
}

status cudaHostGetDevicePointer(void **ret_address, void *pointer, unsigned flags)
{
    device_pointer address;
    status error = plim_runtime_ready();
    if (!error && !(error = cuMemHostGetDevicePointer_v2(&address, pointer, flags)))
        *ret_address = (void *)(uintptr_t)address;
    return plim_runtime_fail(error);
}

status cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    device_pointer address = 0;
    status error = plim_runtime_ready();
    if (!error && width && height)
        error = cuMemAllocPitch_v2(&address, pitch, width, height, 4);
    else if (!error)
        *pitch = 0;
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return plim_runtime_fail(error);
}

/* Slices of rows that are padded as in cudaMallocPitch(). */
status cudaMalloc3D(struct cuda_pitched *ret_memory, struct cuda_triple extent)
{
    void *start;
    size_t pitch, n_rows;
    if (!ret_memory)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    if (__builtin_mul_overflow(extent.y, extent.z, &n_rows))
        return plim_runtime_fail(PLIM_CUDA_OUT_OF_MEMORY);
    status error = cudaMallocPitch(&start, &pitch, extent.x, n_rows);
    if (!error)
        *ret_memory = (struct cuda_pitched){ start, pitch, extent.x, extent.y };
    return error;
}

status cudaMallocAsync(void **pointer, size_t size, void *stream)
{
    device_pointer address = 0;
    status error = plim_runtime_ready();
    if (!error && size > 0)
        error = cuMemAllocAsync(&address, size, stream);
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return plim_runtime_fail(error);
}

status cudaIpcOpenMemHandle(void **pointer, struct cu_ipc_handle handle, unsigned flags)
{
    device_pointer address;
    status error = plim_runtime_ready();
    if (!error && !(error = cuIpcOpenMemHandle_v2(&address, handle, flags)))
        *pointer = (void *)(uintptr_t)address;
    return plim_runtime_fail(error);
}

status cudaIpcOpenEventHandle(void **event, struct cu_ipc_handle handle)
{
    status error = plim_runtime_ready();
    return plim_runtime_fail(error ? error : cuIpcOpenEventHandle(event, handle));
}

/* A hint about managed memory; its last parameter, which differs between 12 and 13, is not read. */
status cudaMemAdvise(const void *pointer, size_t size, int advice)
{
    status error = plim_runtime_ready();
    return error ? error : plim_runtime_fail(cuMemAdvise((device_pointer)(uintptr_t)pointer, size, advice, 0));
}

status cudaMemPrefetchAsync(const void *pointer, size_t size) { return cudaMemAdvise(pointer, size, 0); }

status cudaPointerGetAttributes(struct cuda_pointer_attributes *attributes, const void *pointer)
{
    enum { DEVICE_ORDINAL = 9 };
    int owner = 0;
    status error = plim_runtime_ready();
    if (error || !attributes)
        return plim_runtime_fail(error ? error : PLIM_CUDA_INVALID_VALUE);
    *attributes =
        (struct cuda_pointer_attributes){ .type = 0, .device = -2, .host_pointer = (void *)(uintptr_t)pointer };
    enum plim_ledger_kind kind = plim_vgpu_host_kind(pointer);
    if (plim_vgpu_is_device(pointer)) {
        if (cuPointerGetAttribute(&owner, DEVICE_ORDINAL, (device_pointer)(uintptr_t)pointer))
            return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
        *attributes = (struct cuda_pointer_attributes){ .type = 2,
                                                        .device = owner,
                                                        .device_pointer = (void *)(uintptr_t)pointer };
    } else if (kind != PLIM_KIND_MAX_) {
        attributes->type = kind == PLIM_KIND_MANAGED ? 3 : 1;
        attributes->device = plim_runtime_device();
        attributes->device_pointer = (void *)(uintptr_t)pointer;
    }
    return PLIM_CUDA_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* libcudart: copies. Device memory holds nothing, so what comes back from it is zero. */
#include "vgpu/runtime.h"

#include <string.h>

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

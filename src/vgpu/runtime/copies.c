/* SPDX-License-Identifier: MIT */
/* libcudart: copies and fills. values.c in libcuda moves the bytes. */
#include "vgpu/driver/memory/values.h"
#include "vgpu/driver/streams/schedule.h"
#include "vgpu/runtime/runtime.h"
#include "vgpu/runtime/runtime_api.h"

enum { INVALID_PITCH = 12, INVALID_DIRECTION = 21 };

static status copy_box(const struct plim_copy *copy, int kind, void *stream)
{
    status error = plim_runtime_stream(stream);
    if (error)
        return error;
    if (kind < PLIM_COPY_HOST || kind > PLIM_COPY_ANY)
        return plim_runtime_fail(INVALID_DIRECTION);
    return plim_runtime_fail(plim_vgpu_copy_box(copy, (enum plim_copy_kind)kind, stream));
}

/* A synchronous call waits for the work before it. */
static status waited(status error)
{
    if (!error)
        plim_vgpu_wait_for_default();
    return error;
}

status cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    return copy_box(&(struct plim_copy){ .to = to, .from = from, .width = size, .height = 1, .depth = 1 }, kind,
                    stream);
}

status cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
    return waited(cudaMemcpyAsync(to, from, size, kind, NULL));
}

status cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, void *stream)
{
    if (!plim_vgpu_card(to_device) || !plim_vgpu_card(from_device))
        return plim_runtime_fail(PLIM_CUDA_INVALID_DEVICE);
    return cudaMemcpyAsync(to, from, size, PLIM_COPY_ON_DEVICE, stream);
}

status cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    return waited(cudaMemcpyPeerAsync(to, to_device, from, from_device, size, NULL));
}

/* --- rows and boxes --- */

status cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         int kind, void *stream)
{
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return plim_runtime_fail(INVALID_PITCH);
    return copy_box(&(struct plim_copy){ .to = to,
                                         .from = from,
                                         .width = width,
                                         .height = height,
                                         .depth = 1,
                                         .to_pitch = to_pitch,
                                         .from_pitch = from_pitch },
                    kind, stream);
}

status cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                    int kind)
{
    return waited(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL));
}

static void *at(const struct cuda_pitched *p, const struct cuda_triple *position)
{
    return plim_vgpu_within(p->start, p->pitch, p->height, position->x, position->y, position->z);
}

status cudaMemcpy3DAsync(const struct cuda_copy_3d *box, void *stream)
{
    if (!box)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    if (box->from_array || box->to_array)
        return plim_runtime_copy_arrays(box, stream);
    return copy_box(&(struct plim_copy){ .to = at(&box->to, &box->to_at),
                                         .from = at(&box->from, &box->from_at),
                                         .width = box->extent.x,
                                         .height = box->extent.y,
                                         .depth = box->extent.z,
                                         .to_pitch = box->to.pitch,
                                         .from_pitch = box->from.pitch,
                                         .to_slice = plim_vgpu_slice(box->to.pitch, box->to.height),
                                         .from_slice = plim_vgpu_slice(box->from.pitch, box->from.height) },
                    box->kind, stream);
}

status cudaMemcpy3D(const struct cuda_copy_3d *box) { return waited(cudaMemcpy3DAsync(box, NULL)); }

status cudaMemcpy3DPeerAsync(const struct cuda_peer_copy_3d *box, void *stream)
{
    if (!box)
        return plim_runtime_fail(PLIM_CUDA_INVALID_VALUE);
    return cudaMemcpy3DAsync(&(struct cuda_copy_3d){ box->from_array, box->from_at, box->from, box->to_array,
                                                     box->to_at, box->to, box->extent, PLIM_COPY_ON_DEVICE },
                             stream);
}

status cudaMemcpy3DPeer(const struct cuda_peer_copy_3d *box) { return waited(cudaMemcpy3DPeerAsync(box, NULL)); }

/* --- batches: 12.8 has one more parameter, the index of the copy that failed --- */

static status copy_batch(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                         size_t *ret_failed, void *stream)
{
    status error = plim_runtime_stream(stream);
    if (!error && (!to || !from || !sizes || count == 0))
        error = PLIM_CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count && !error; i++)
        if ((error = cudaMemcpyAsync(to[i], from[i], sizes[i], PLIM_COPY_ANY, stream)) && ret_failed)
            *ret_failed = i;
    return plim_runtime_fail(error);
}

#if PLIM_CUDART <= 12
status cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                            const void *attributes, const size_t *indices, size_t n_attributes, size_t *ret_failed,
                            void *stream)
{
    (void)attributes, (void)indices, (void)n_attributes;
    return copy_batch(to, from, sizes, count, ret_failed, stream);
}
#else
status cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                            const void *attributes, const size_t *indices, size_t n_attributes, void *stream)
{
    (void)attributes, (void)indices, (void)n_attributes;
    return copy_batch(to, from, sizes, count, NULL, stream);
}
#endif

/* --- variables of device code --- */

static status symbol_at(const void *symbol, size_t size, size_t offset, char **ret_start)
{
    void *start = NULL;
    size_t whole = 0;
    status error = cudaGetSymbolAddress(&start, symbol);
    if (!error && !(error = cudaGetSymbolSize(&whole, symbol)) && (offset > whole || size > whole - offset))
        error = PLIM_CUDA_INVALID_VALUE;
    *ret_start = error ? NULL : (char *)start + offset;
    return plim_runtime_fail(error);
}

status cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset, int kind, void *stream)
{
    char *start;
    status error = symbol_at(symbol, size, offset, &start);
    return error ? error : cudaMemcpyAsync(start, from, size, kind, stream);
}

status cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind)
{
    return waited(cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, NULL));
}

status cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream)
{
    char *start;
    status error = symbol_at(symbol, size, offset, &start);
    return error ? error : cudaMemcpyAsync(to, start, size, kind, stream);
}

status cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset, int kind)
{
    return waited(cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, NULL));
}

/* --- fills --- */

static status fill(struct cuda_pitched to, int value, struct cuda_triple extent, void *stream)
{
    status error = plim_runtime_stream(stream);
    if (!error)
        error = plim_vgpu_fill(&(struct plim_fill){ .to = to.start,
                                                    .value = (uint8_t)value,
                                                    .width = 1,
                                                    .count = extent.x,
                                                    .height = extent.y,
                                                    .depth = extent.z,
                                                    .pitch = to.pitch,
                                                    .slice = plim_vgpu_slice(to.pitch, to.height) },
                               stream);
    return plim_runtime_fail(error);
}

status cudaMemsetAsync(void *start, int value, size_t size, void *stream)
{
    return fill((struct cuda_pitched){ .start = start }, value, (struct cuda_triple){ size, 1, 1 }, stream);
}

status cudaMemset(void *start, int value, size_t size) { return waited(cudaMemsetAsync(start, value, size, NULL)); }

status cudaMemset2DAsync(void *start, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    if (height > 1 && width > pitch)
        return plim_runtime_fail(INVALID_PITCH);
    return fill((struct cuda_pitched){ .start = start, .pitch = pitch }, value,
                (struct cuda_triple){ width, height, 1 }, stream);
}

status cudaMemset2D(void *start, size_t pitch, int value, size_t width, size_t height)
{
    return waited(cudaMemset2DAsync(start, pitch, value, width, height, NULL));
}

status cudaMemset3DAsync(struct cuda_pitched start, int value, struct cuda_triple extent, void *stream)
{
    return fill(start, value, extent, stream);
}

status cudaMemset3D(struct cuda_pitched start, int value, struct cuda_triple extent)
{
    return waited(cudaMemset3DAsync(start, value, extent, NULL));
}

/* --- aliases for programs built with a default stream per thread --- */

#define ALSO(name, original) extern __typeof__(original) name __attribute__((alias(#original)))
ALSO(cudaMemcpy_ptds, cudaMemcpy);
ALSO(cudaMemcpyAsync_ptsz, cudaMemcpyAsync);
ALSO(cudaMemcpy2D_ptds, cudaMemcpy2D);
ALSO(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync);
ALSO(cudaMemcpy3D_ptds, cudaMemcpy3D);
ALSO(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync);
ALSO(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer);
ALSO(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync);
ALSO(cudaMemcpyBatchAsync_ptsz, cudaMemcpyBatchAsync);
ALSO(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol);
ALSO(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync);
ALSO(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol);
ALSO(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync);
ALSO(cudaMemset_ptds, cudaMemset);
ALSO(cudaMemsetAsync_ptsz, cudaMemsetAsync);
ALSO(cudaMemset2D_ptds, cudaMemset2D);
ALSO(cudaMemset2DAsync_ptsz, cudaMemset2DAsync);
ALSO(cudaMemset3D_ptds, cudaMemset3D);
ALSO(cudaMemset3DAsync_ptsz, cudaMemset3DAsync);

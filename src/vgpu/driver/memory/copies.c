/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1: copies and fills. The bytes have moved when a call returns, also when it puts the copy into a stream,
 * unless the stream captures.
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/memory/values.h"
#include "vgpu/driver/streams/schedule.h"

static void *pointer(device_pointer address) { return (void *)(uintptr_t)address; }

static status ready(void)
{
    int error;
    plim_vgpu_ledger(&error);
    return error;
}

/* A synchronous call: into the default stream, then wait for it. */
static status done(status error)
{
    if (!error)
        plim_vgpu_wait_for_default();
    return error;
}

static status copy(device_pointer to, device_pointer from, size_t size, enum plim_copy_kind kind, void *stream)
{
    status error = ready();
    return error ? error : plim_vgpu_copy(pointer(to), pointer(from), size, kind, stream);
}

static device_pointer address(const void *host) { return (device_pointer)(uintptr_t)host; }

/* --- plain --- */

#define COPIES(name, async_name, to_type, from_type, to_address, from_address, kind)                                   \
    status name(to_type to, from_type from, size_t size)                                                               \
    {                                                                                                                  \
        return done(copy(to_address, from_address, size, kind, NULL));                                                 \
    }                                                                                                                  \
    status async_name(to_type to, from_type from, size_t size, void *stream)                                           \
    {                                                                                                                  \
        return copy(to_address, from_address, size, kind, stream);                                                     \
    }
COPIES(cuMemcpy, cuMemcpyAsync, device_pointer, device_pointer, to, from, PLIM_COPY_ANY)
COPIES(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, device_pointer, const void *, to, address(from), PLIM_COPY_TO_DEVICE)
COPIES(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, void *, device_pointer, address(to), from, PLIM_COPY_TO_HOST)
COPIES(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, device_pointer, device_pointer, to, from, PLIM_COPY_ON_DEVICE)

status cuMemcpyPeer(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size)
{
    (void)to_context, (void)from_context;
    return cuMemcpyDtoD_v2(to, from, size);
}

status cuMemcpyPeerAsync(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size,
                         void *stream)
{
    (void)to_context, (void)from_context;
    return cuMemcpyDtoDAsync_v2(to, from, size, stream);
}

static status copy_batch(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                         size_t *ret_failed, void *stream)
{
    status error = ready();
    if (!error && (!to || !from || !sizes || count == 0))
        error = PLIM_CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count && !error; i++)
        if ((error = cuMemcpyAsync(to[i], from[i], sizes[i], stream)) && ret_failed)
            *ret_failed = i;
    return error;
}

status cuMemcpyBatchAsync(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                          const void *attributes, const size_t *indices, size_t n_attributes, size_t *ret_failed,
                          void *stream)
{
    (void)attributes, (void)indices, (void)n_attributes;
    return copy_batch(to, from, sizes, count, ret_failed, stream);
}

status cuMemcpyBatchAsync_v2(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                             const void *attributes, const size_t *indices, size_t n_attributes, void *stream)
{
    (void)attributes, (void)indices, (void)n_attributes;
    return copy_batch(to, from, sizes, count, NULL, stream);
}

/* --- rows and boxes --- */

enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, MEMORY_UNIFIED = 4 };

static void *start_of(const struct cu_copy_side_3d *side)
{
    void *start = side->type == MEMORY_HOST ? side->host : pointer(side->device);
    return plim_vgpu_within(start, side->pitch, side->height, side->x, side->y, side->z);
}

static enum plim_copy_kind kind_of(int from, int to)
{
    if (from == MEMORY_UNIFIED || to == MEMORY_UNIFIED)
        return PLIM_COPY_ANY;
    return from == MEMORY_HOST ? to == MEMORY_HOST ? PLIM_COPY_HOST : PLIM_COPY_TO_DEVICE
           : to == MEMORY_HOST ? PLIM_COPY_TO_HOST
                               : PLIM_COPY_ON_DEVICE;
}

static status copy_box(const struct cu_copy_3d *box, const void *caller, void *stream)
{
    const struct cu_copy_side_3d *from = &box->from, *to = &box->to;
    status error = ready();
    if (error)
        return error;
    if (from->type == MEMORY_ARRAY || to->type == MEMORY_ARRAY)
        return plim_vgpu_unsupported("a copy of an array", caller);
    if (from->type < MEMORY_HOST || from->type > MEMORY_UNIFIED || to->type < MEMORY_HOST || to->type > MEMORY_UNIFIED)
        return PLIM_CUDA_INVALID_VALUE;
    if (box->height > 1 && (box->width > from->pitch || box->width > to->pitch))
        return PLIM_CUDA_INVALID_VALUE;
    return plim_vgpu_copy_box(&(struct plim_copy){ .to = start_of(to),
                                                   .from = start_of(from),
                                                   .width = box->width,
                                                   .height = box->height,
                                                   .depth = box->depth,
                                                   .to_pitch = to->pitch,
                                                   .from_pitch = from->pitch,
                                                   .to_slice = plim_vgpu_slice(to->pitch, to->height),
                                                   .from_slice = plim_vgpu_slice(from->pitch, from->height) },
                              kind_of(from->type, to->type), stream);
}

static status box_of(const struct cu_copy_3d *box, const void *caller, void *stream)
{
    return box ? copy_box(box, caller, stream) : PLIM_CUDA_INVALID_VALUE;
}

status cuMemcpy3D_v2(const struct cu_copy_3d *box) { return done(box_of(box, __builtin_return_address(0), NULL)); }

status cuMemcpy3DAsync_v2(const struct cu_copy_3d *box, void *stream)
{
    return box_of(box, __builtin_return_address(0), stream);
}

status cuMemcpy3DPeer(const struct cu_copy_3d *box) { return cuMemcpy3D_v2(box); }
status cuMemcpy3DPeerAsync(const struct cu_copy_3d *box, void *stream) { return cuMemcpy3DAsync_v2(box, stream); }

static struct cu_copy_side_3d widened(const struct cu_copy_side_2d *side)
{
    return (struct cu_copy_side_3d){ .x = side->x,
                                     .y = side->y,
                                     .type = side->type,
                                     .host = side->host,
                                     .device = side->device,
                                     .array = side->array,
                                     .pitch = side->pitch };
}

static status rows_of(const struct cu_copy_2d *rows, const void *caller, void *stream)
{
    return rows ? copy_box(
                      &(struct cu_copy_3d){ widened(&rows->from), widened(&rows->to), rows->width, rows->height, 1 },
                      caller, stream)
                : PLIM_CUDA_INVALID_VALUE;
}

status cuMemcpy2DUnaligned_v2(const struct cu_copy_2d *rows)
{
    return done(rows_of(rows, __builtin_return_address(0), NULL));
}
status cuMemcpy2D_v2(const struct cu_copy_2d *rows) { return cuMemcpy2DUnaligned_v2(rows); }

status cuMemcpy2DAsync_v2(const struct cu_copy_2d *rows, void *stream)
{
    return rows_of(rows, __builtin_return_address(0), stream);
}

/* --- fills: the destination is aligned to the width --- */

static status fill(device_pointer to, size_t pitch, uint32_t value, unsigned width, size_t count, size_t n_rows,
                   void *stream)
{
    status error = ready();
    if (error)
        return error;
    if (to % width || (n_rows > 1 && (pitch % width || count > pitch / width)))
        return PLIM_CUDA_INVALID_VALUE;
    return plim_vgpu_fill(&(struct plim_fill){ .to = pointer(to),
                                               .value = value,
                                               .width = width,
                                               .count = count,
                                               .height = n_rows,
                                               .depth = 1,
                                               .pitch = pitch },
                          stream);
}

#define FILLS(bits, type)                                                                                              \
    status cuMemsetD##bits##_v2(device_pointer to, type value, size_t count)                                           \
    {                                                                                                                  \
        return done(fill(to, 0, value, bits / 8, count, 1, NULL));                                                     \
    }                                                                                                                  \
    status cuMemsetD##bits##Async(device_pointer to, type value, size_t count, void *stream)                           \
    {                                                                                                                  \
        return fill(to, 0, value, bits / 8, count, 1, stream);                                                         \
    }                                                                                                                  \
    status cuMemsetD2D##bits##_v2(device_pointer to, size_t pitch, type value, size_t count, size_t n_rows)            \
    {                                                                                                                  \
        return done(fill(to, pitch, value, bits / 8, count, n_rows, NULL));                                            \
    }                                                                                                                  \
    status cuMemsetD2D##bits##Async(device_pointer to, size_t pitch, type value, size_t count, size_t n_rows,          \
                                    void *stream)                                                                      \
    {                                                                                                                  \
        return fill(to, pitch, value, bits / 8, count, n_rows, stream);                                                \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

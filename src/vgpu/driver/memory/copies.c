/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1: copies and fills. The bytes have moved when a call returns, also when it puts the copy into a stream,
 * unless the stream captures.
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/memory/arrays.h"
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

static bool is_within(size_t at, size_t n, size_t all) { return at <= all && n <= all - at; }

/* An array becomes the memory that its elements are in; the box lies within it, on whole elements. */
static status resolve(struct cu_copy_side_3d *side, const struct cu_copy_3d *box)
{
    struct plim_array_place place;
    if (side->type != MEMORY_ARRAY)
        return side->type < MEMORY_HOST || side->type > MEMORY_UNIFIED ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_SUCCESS;
    status error = plim_vgpu_array_place(side->array, &place);
    if (error)
        return error;
    if (!is_within(side->x, box->width, place.row_bytes) || !is_within(side->y, box->height, place.height) ||
        !is_within(side->z, box->depth, place.depth) || side->x % place.element_bytes ||
        box->width % place.element_bytes)
        return PLIM_CUDA_INVALID_VALUE;
    side->type = MEMORY_DEVICE;
    side->device = (device_pointer)(uintptr_t)place.start;
    side->pitch = place.row_bytes;
    side->height = place.height;
    return PLIM_CUDA_SUCCESS;
}

static enum plim_copy_kind kind_of(int from, int to)
{
    if (from == MEMORY_UNIFIED || to == MEMORY_UNIFIED)
        return PLIM_COPY_ANY;
    return from == MEMORY_HOST ? to == MEMORY_HOST ? PLIM_COPY_HOST : PLIM_COPY_TO_DEVICE
           : to == MEMORY_HOST ? PLIM_COPY_TO_HOST
                               : PLIM_COPY_ON_DEVICE;
}

static status copy_box(const struct cu_copy_3d *given, void *stream)
{
    struct cu_copy_3d resolved = *given, *box = &resolved;
    const struct cu_copy_side_3d *from = &box->from, *to = &box->to;
    status error = ready();
    if (error || (error = resolve(&box->from, box)) || (error = resolve(&box->to, box)))
        return error;
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

status cuMemcpy3DAsync_v2(const struct cu_copy_3d *box, void *stream)
{
    return box ? copy_box(box, stream) : PLIM_CUDA_INVALID_VALUE;
}

status cuMemcpy3D_v2(const struct cu_copy_3d *box) { return done(cuMemcpy3DAsync_v2(box, NULL)); }

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

status cuMemcpy2DAsync_v2(const struct cu_copy_2d *rows, void *stream)
{
    return rows ? copy_box(
                      &(struct cu_copy_3d){ widened(&rows->from), widened(&rows->to), rows->width, rows->height, 1 },
                      stream)
                : PLIM_CUDA_INVALID_VALUE;
}

status cuMemcpy2DUnaligned_v2(const struct cu_copy_2d *rows) { return done(cuMemcpy2DAsync_v2(rows, NULL)); }
status cuMemcpy2D_v2(const struct cu_copy_2d *rows) { return cuMemcpy2DUnaligned_v2(rows); }

/* --- one row of an array --- */

static status copy_row(struct cu_copy_side_3d to, struct cu_copy_side_3d from, size_t size, void *stream)
{
    return copy_box(&(struct cu_copy_3d){ from, to, size, 1, 1 }, stream);
}

#define ARRAY_AT(array_, offset) ((struct cu_copy_side_3d){ .type = MEMORY_ARRAY, .array = (array_), .x = (offset) })
#define HOST_AT(pointer_)        ((struct cu_copy_side_3d){ .type = MEMORY_HOST, .host = (char *)(uintptr_t)(pointer_) })
#define DEVICE_AT(address_)      ((struct cu_copy_side_3d){ .type = MEMORY_DEVICE, .device = (address_) })

status cuMemcpyHtoAAsync_v2(void *to, size_t offset, const void *from, size_t size, void *stream)
{
    return copy_row(ARRAY_AT(to, offset), HOST_AT(from), size, stream);
}

status cuMemcpyAtoHAsync_v2(void *to, void *from, size_t offset, size_t size, void *stream)
{
    return copy_row(HOST_AT(to), ARRAY_AT(from, offset), size, stream);
}

status cuMemcpyHtoA_v2(void *to, size_t offset, const void *from, size_t size)
{
    return done(cuMemcpyHtoAAsync_v2(to, offset, from, size, NULL));
}

status cuMemcpyAtoH_v2(void *to, void *from, size_t offset, size_t size)
{
    return done(cuMemcpyAtoHAsync_v2(to, from, offset, size, NULL));
}

status cuMemcpyDtoA_v2(void *to, size_t offset, device_pointer from, size_t size)
{
    return done(copy_row(ARRAY_AT(to, offset), DEVICE_AT(from), size, NULL));
}

status cuMemcpyAtoD_v2(device_pointer to, void *from, size_t offset, size_t size)
{
    return done(copy_row(DEVICE_AT(to), ARRAY_AT(from, offset), size, NULL));
}

status cuMemcpyAtoA_v2(void *to, size_t to_offset, void *from, size_t from_offset, size_t size)
{
    return done(copy_row(ARRAY_AT(to, to_offset), ARRAY_AT(from, from_offset), size, NULL));
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

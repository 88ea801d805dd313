/* SPDX-License-Identifier: MIT */
/* libcuda.so.1: copies and fills. All of them are complete when they return. */
#include "vgpu/values.h"

typedef int status;
typedef unsigned long long device_pointer;

static void *pointer(device_pointer address) { return (void *)(uintptr_t)address; }

static status ready(void)
{
    int error;
    plim_vgpu_ledger(&error);
    return error;
}

static status copy(void *to, const void *from, size_t size, enum plim_copy_kind kind)
{
    status error = ready();
    return error ? error : plim_vgpu_copy(to, from, size, kind);
}

/* --- plain --- */

status cuMemcpy(device_pointer to, device_pointer from, size_t size)
{
    return copy(pointer(to), pointer(from), size, PLIM_COPY_ANY);
}

status cuMemcpyAsync(device_pointer to, device_pointer from, size_t size, void *stream)
{
    (void)stream;
    return cuMemcpy(to, from, size);
}

status cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t size)
{
    return copy(pointer(to), from, size, PLIM_COPY_TO_DEVICE);
}

status cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t size, void *stream)
{
    (void)stream;
    return cuMemcpyHtoD_v2(to, from, size);
}

status cuMemcpyDtoH_v2(void *to, device_pointer from, size_t size)
{
    return copy(to, pointer(from), size, PLIM_COPY_TO_HOST);
}

status cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t size, void *stream)
{
    (void)stream;
    return cuMemcpyDtoH_v2(to, from, size);
}

status cuMemcpyDtoD_v2(device_pointer to, device_pointer from, size_t size)
{
    return copy(pointer(to), pointer(from), size, PLIM_COPY_ON_DEVICE);
}

status cuMemcpyDtoDAsync_v2(device_pointer to, device_pointer from, size_t size, void *stream)
{
    (void)stream;
    return cuMemcpyDtoD_v2(to, from, size);
}

status cuMemcpyPeer(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size)
{
    (void)to_context, (void)from_context;
    return cuMemcpyDtoD_v2(to, from, size);
}

status cuMemcpyPeerAsync(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size,
                         void *stream)
{
    (void)stream;
    return cuMemcpyPeer(to, to_context, from, from_context, size);
}

static status copy_batch(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                         size_t *ret_failed)
{
    status error = ready();
    if (!error && (!to || !from || !sizes || count == 0))
        error = PLIM_CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count && !error; i++)
        if ((error = cuMemcpy(to[i], from[i], sizes[i])) && ret_failed)
            *ret_failed = i;
    return error;
}

status cuMemcpyBatchAsync(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                          const void *attributes, const size_t *indices, size_t n_attributes, size_t *ret_failed,
                          void *stream)
{
    (void)attributes, (void)indices, (void)n_attributes, (void)stream;
    return copy_batch(to, from, sizes, count, ret_failed);
}

status cuMemcpyBatchAsync_v2(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                             const void *attributes, const size_t *indices, size_t n_attributes, void *stream)
{
    (void)attributes, (void)indices, (void)n_attributes, (void)stream;
    return copy_batch(to, from, sizes, count, NULL);
}

/* --- rows and boxes --- */

enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, MEMORY_UNIFIED = 4 };

/* One side of CUDA_MEMCPY2D_v2. */
struct side_2d {
    size_t x, y;
    int type;
    char *host;
    device_pointer device;
    void *array;
    size_t pitch;
};

struct copy_2d {
    struct side_2d from, to;
    size_t width, height;
};
_Static_assert(sizeof(struct copy_2d) == 128, "CUDA_MEMCPY2D_v2");

/* One side of CUDA_MEMCPY3D_v2; in CUDA_MEMCPY3D_PEER a context is where nothing is here. */
struct side_3d {
    size_t x, y, z, level;
    int type;
    char *host;
    device_pointer device;
    void *array, *nothing;
    size_t pitch, height;
};

struct copy_3d {
    struct side_3d from, to;
    size_t width, height, depth;
};
_Static_assert(sizeof(struct copy_3d) == 200, "CUDA_MEMCPY3D_v2");

static char *start_of(const struct side_3d *side)
{
    char *start = side->type == MEMORY_HOST ? side->host : pointer(side->device);
    return start ? start + (side->z * side->height + side->y) * side->pitch + side->x : NULL;
}

static enum plim_copy_kind kind_of(int from, int to)
{
    if (from == MEMORY_UNIFIED || to == MEMORY_UNIFIED)
        return PLIM_COPY_ANY;
    return from == MEMORY_HOST ? to == MEMORY_HOST ? PLIM_COPY_HOST : PLIM_COPY_TO_DEVICE
           : to == MEMORY_HOST ? PLIM_COPY_TO_HOST
                               : PLIM_COPY_ON_DEVICE;
}

static status copy_box(const struct copy_3d *box, const void *caller)
{
    const struct side_3d *from = &box->from, *to = &box->to;
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
                                                   .to_slice = to->pitch * to->height,
                                                   .from_slice = from->pitch * from->height },
                              kind_of(from->type, to->type));
}

status cuMemcpy3D_v2(const struct copy_3d *box)
{
    return box ? copy_box(box, __builtin_return_address(0)) : PLIM_CUDA_INVALID_VALUE;
}

status cuMemcpy3DAsync_v2(const struct copy_3d *box, void *stream)
{
    (void)stream;
    return cuMemcpy3D_v2(box);
}

status cuMemcpy3DPeer(const struct copy_3d *box) { return cuMemcpy3D_v2(box); }
status cuMemcpy3DPeerAsync(const struct copy_3d *box, void *stream) { return cuMemcpy3DAsync_v2(box, stream); }

static struct side_3d widened(const struct side_2d *side)
{
    return (struct side_3d){ .x = side->x,
                             .y = side->y,
                             .type = side->type,
                             .host = side->host,
                             .device = side->device,
                             .array = side->array,
                             .pitch = side->pitch };
}

status cuMemcpy2DUnaligned_v2(const struct copy_2d *rows)
{
    return rows ? cuMemcpy3D_v2(
                      &(struct copy_3d){ widened(&rows->from), widened(&rows->to), rows->width, rows->height, 1 })
                : PLIM_CUDA_INVALID_VALUE;
}

status cuMemcpy2D_v2(const struct copy_2d *rows) { return cuMemcpy2DUnaligned_v2(rows); }

status cuMemcpy2DAsync_v2(const struct copy_2d *rows, void *stream)
{
    (void)stream;
    return cuMemcpy2DUnaligned_v2(rows);
}

/* --- fills: to must be aligned to the width --- */

static status fill(device_pointer to, size_t pitch, uint32_t value, unsigned width, size_t count, size_t n_rows)
{
    status error = ready();
    if (error)
        return error;
    if (to % width || (n_rows > 1 && (pitch % width || count > pitch / width)))
        return PLIM_CUDA_INVALID_VALUE;
    return plim_vgpu_fill(pointer(to), pitch, value, width, count, n_rows);
}

#define FILLS(bits, type)                                                                                              \
    status cuMemsetD##bits##_v2(device_pointer to, type value, size_t count)                                           \
    {                                                                                                                  \
        return fill(to, 0, value, bits / 8, count, 1);                                                                 \
    }                                                                                                                  \
    status cuMemsetD##bits##Async(device_pointer to, type value, size_t count, void *stream)                           \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        return fill(to, 0, value, bits / 8, count, 1);                                                                 \
    }                                                                                                                  \
    status cuMemsetD2D##bits##_v2(device_pointer to, size_t pitch, type value, size_t count, size_t n_rows)            \
    {                                                                                                                  \
        return fill(to, pitch, value, bits / 8, count, n_rows);                                                        \
    }                                                                                                                  \
    status cuMemsetD2D##bits##Async(device_pointer to, size_t pitch, type value, size_t count, size_t n_rows,          \
                                    void *stream)                                                                      \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        return fill(to, pitch, value, bits / 8, count, n_rows);                                                        \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

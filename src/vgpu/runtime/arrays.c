/* SPDX-License-Identifier: MIT */
/* libcudart: arrays, mipmapped arrays, and copies to and from them. */
#include "vgpu/driver/memory/arrays.h"

#include "vgpu/driver/memory/values.h"
#include "vgpu/driver/streams/schedule.h"
#include "vgpu/runtime/runtime.h"
#include "vgpu/runtime/runtime_api.h"

enum { INVALID_CHANNELS = 20, INVALID_DIRECTION = 21 };

/* The runtime has no invalid handles of arrays, but invalid values (reference). */
static status fail(status error)
{
    return plim_runtime_fail(error == PLIM_CUDA_INVALID_HANDLE ? PLIM_CUDA_INVALID_VALUE : error);
}

static status waited(status error)
{
    if (!error)
        plim_vgpu_wait_for_default();
    return error;
}

/* --- channels --- */

/* cudaChannelFormatKind and CUarray_format: the basic ones, by kind and width. */
static const struct {
    int kind, bits, format;
} formats[] = {
    { 0, 8, 0x08 },  { 0, 16, 0x09 }, { 0, 32, 0x0a }, { 1, 8, 0x01 },
    { 1, 16, 0x02 }, { 1, 32, 0x03 }, { 2, 16, 0x10 }, { 2, 32, 0x20 },
};
enum { N_FORMATS = sizeof formats / sizeof *formats, LAST_BASIC_KIND = 3 };

struct cuda_channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct cuda_channels){ { x, y, z, w }, kind };
}

/* 1, 2 or 4 channels of the same width. */
static status format_of(const struct cuda_channels *channels, int *ret_format, unsigned *ret_n)
{
    unsigned n = 0;
    *ret_format = 0;
    if (channels->kind > LAST_BASIC_KIND)
        return plim_vgpu_unsupported("an array of a compressed or a normalized format", __builtin_return_address(0));
    for (unsigned i = 0; i < 4; i++)
        n += channels->bits[i] != 0;
    for (unsigned i = 0; i < 4; i++)
        if (channels->bits[i] != (i < n ? channels->bits[0] : 0))
            return INVALID_CHANNELS;
    for (unsigned i = 0; i < N_FORMATS; i++)
        if (formats[i].kind == channels->kind && formats[i].bits == channels->bits[0])
            *ret_format = formats[i].format;
    *ret_n = n;
    return *ret_format && n != 3 ? PLIM_CUDA_SUCCESS : INVALID_CHANNELS;
}

static struct cuda_channels channels_of(const struct cu_array_3d *shape)
{
    struct cuda_channels channels = { .kind = LAST_BASIC_KIND };
    for (unsigned i = 0; i < N_FORMATS; i++)
        if (formats[i].format == shape->format) {
            channels.kind = formats[i].kind;
            for (unsigned c = 0; c < shape->n_channels && c < 4; c++)
                channels.bits[c] = formats[i].bits;
        }
    return channels;
}

/* --- arrays --- */

static status shape_of(const struct cuda_channels *channels, struct cuda_triple extent, unsigned flags,
                       struct cu_array_3d *ret_shape)
{
    *ret_shape = (struct cu_array_3d){ .width = extent.x, .height = extent.y, .depth = extent.z, .flags = flags };
    status error = plim_runtime_ready();
    if (error || !channels)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    return format_of(channels, &ret_shape->format, &ret_shape->n_channels);
}

status cudaMalloc3DArray(void **ret_array, const struct cuda_channels *channels, struct cuda_triple extent,
                         unsigned flags)
{
    struct cu_array_3d shape;
    status error = shape_of(channels, extent, flags, &shape);
    return fail(error ? error : cuArray3DCreate_v2(ret_array, &shape));
}

status cudaMallocArray(void **ret_array, const struct cuda_channels *channels, size_t width, size_t height,
                       unsigned flags)
{
    return cudaMalloc3DArray(ret_array, channels, (struct cuda_triple){ width, height, 0 }, flags);
}

/* The null pointer is freed without an error. */
status cudaFreeArray(void *array)
{
    status error = plim_runtime_ready();
    return fail(error || !array ? error : cuArrayDestroy(array));
}

status cudaMallocMipmappedArray(void **ret_array, const struct cuda_channels *channels, struct cuda_triple extent,
                                unsigned n_levels, unsigned flags)
{
    struct cu_array_3d shape;
    status error = shape_of(channels, extent, flags, &shape);
    return fail(error ? error : cuMipmappedArrayCreate(ret_array, &shape, n_levels));
}

status cudaGetMipmappedArrayLevel(void **ret_level, void *array, unsigned number)
{
    status error = plim_runtime_ready();
    return fail(error ? error : cuMipmappedArrayGetLevel(ret_level, array, number));
}

status cudaFreeMipmappedArray(void *array)
{
    status error = plim_runtime_ready();
    return fail(error || !array ? error : cuMipmappedArrayDestroy(array));
}

status cudaArrayGetInfo(struct cuda_channels *ret_channels, struct cuda_triple *ret_extent, unsigned *ret_flags,
                        void *array)
{
    struct cu_array_3d shape;
    status error = plim_runtime_ready();
    if (error || (error = cuArray3DGetDescriptor_v2(&shape, array)))
        return fail(error);
    if (ret_channels)
        *ret_channels = channels_of(&shape);
    if (ret_extent)
        *ret_extent = (struct cuda_triple){ shape.width, shape.height, shape.depth };
    if (ret_flags)
        *ret_flags = shape.flags;
    return PLIM_CUDA_SUCCESS;
}

status cudaGetChannelDesc(struct cuda_channels *ret_channels, void *array)
{
    return ret_channels ? cudaArrayGetInfo(ret_channels, NULL, NULL, array) : fail(PLIM_CUDA_INVALID_VALUE);
}

/* --- copies of boxes --- */

enum { SIDE_HOST = 1, SIDE_DEVICE = 2, SIDE_ARRAY = 3, SIDE_ANY = 4 };

static size_t bytes_per_element(const void *array)
{
    struct plim_array_place place;
    return array && !plim_vgpu_array_place(array, &place) ? place.element_bytes : 1;
}

/* Positions in an array count its elements, in other memory bytes. */
static struct cu_copy_side_3d side_of(void *array, const struct cuda_pitched *memory, const struct cuda_triple *at,
                                      int type)
{
    size_t x;
    if (!array)
        return (struct cu_copy_side_3d){ .x = at->x,
                                         .y = at->y,
                                         .z = at->z,
                                         .type = type,
                                         .host = memory->start,
                                         .device = (device_pointer)(uintptr_t)memory->start,
                                         .pitch = memory->pitch,
                                         .height = memory->height };
    if (__builtin_mul_overflow(at->x, bytes_per_element(array), &x))
        x = SIZE_MAX;
    return (struct cu_copy_side_3d){ .x = x, .y = at->y, .z = at->z, .type = SIDE_ARRAY, .array = array };
}

/* The extent counts the elements of the array, which are of one size if both sides are arrays. */
status plim_runtime_copy_arrays(const struct cuda_copy_3d *box, void *stream)
{
    static const int from_types[] = { SIDE_HOST, SIDE_HOST, SIDE_DEVICE, SIDE_DEVICE, SIDE_ANY };
    static const int to_types[] = { SIDE_HOST, SIDE_DEVICE, SIDE_HOST, SIDE_DEVICE, SIDE_ANY };
    size_t width;
    const size_t element = bytes_per_element(box->from_array ? box->from_array : box->to_array);
    status error = plim_runtime_stream(stream);
    if (error)
        return error;
    if (box->kind < PLIM_COPY_HOST || box->kind > PLIM_COPY_ANY)
        return fail(INVALID_DIRECTION);
    if ((box->from_array && box->to_array && element != bytes_per_element(box->to_array)) ||
        (box->from_array && box->from.start) || (box->to_array && box->to.start) ||
        __builtin_mul_overflow(box->extent.x, element, &width))
        return fail(PLIM_CUDA_INVALID_VALUE);
    return fail(cuMemcpy3DAsync_v2(
        &(struct cu_copy_3d){ side_of(box->from_array, &box->from, &box->from_at, from_types[box->kind]),
                              side_of(box->to_array, &box->to, &box->to_at, to_types[box->kind]), width, box->extent.y,
                              box->extent.z },
        stream));
}

/* --- copies of rows: widths and positions in bytes --- */

struct spot {
    const void *array;
    size_t x, y;
};

/* The bytes of an array from a spot on; those of width x height lie within its first layer. */
static status find(const struct spot *spot, size_t width, size_t height, struct plim_array_place *ret_place)
{
    status error = plim_vgpu_array_place(spot->array, ret_place);
    if (error)
        return error;
    if (spot->x > ret_place->row_bytes || width > ret_place->row_bytes - spot->x || spot->y > ret_place->height ||
        height > ret_place->height - spot->y || spot->x % ret_place->element_bytes || width % ret_place->element_bytes)
        return PLIM_CUDA_INVALID_VALUE;
    ret_place->start += spot->y * ret_place->row_bytes + spot->x;
    return PLIM_CUDA_SUCCESS;
}

static status copy_rows(struct plim_copy copy, const struct spot *to, const struct spot *from, int kind, void *stream)
{
    struct plim_array_place place;
    status error = plim_runtime_stream(stream);
    if (error)
        return error;
    if (kind < PLIM_COPY_HOST || kind > PLIM_COPY_ANY)
        return fail(INVALID_DIRECTION);
    if (to && !(error = find(to, copy.width, copy.height, &place))) {
        copy.to = place.start;
        copy.to_pitch = place.row_bytes;
    }
    if (!error && from && !(error = find(from, copy.width, copy.height, &place))) {
        copy.from = place.start;
        copy.from_pitch = place.row_bytes;
    }
    copy.depth = 1;
    return fail(error ? error : plim_vgpu_copy_box(&copy, (enum plim_copy_kind)kind, stream));
}

status cudaMemcpy2DToArrayAsync(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, int kind, void *stream)
{
    return copy_rows((struct plim_copy){ .from = from, .from_pitch = pitch, .width = width, .height = height },
                     &(struct spot){ to, x, y }, NULL, kind, stream);
}

status cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                           int kind)
{
    return waited(cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL));
}

status cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const void *from, size_t x, size_t y, size_t width,
                                  size_t height, int kind, void *stream)
{
    return copy_rows((struct plim_copy){ .to = to, .to_pitch = pitch, .width = width, .height = height }, NULL,
                     &(struct spot){ from, x, y }, kind, stream);
}

status cudaMemcpy2DFromArray(void *to, size_t pitch, const void *from, size_t x, size_t y, size_t width, size_t height,
                             int kind)
{
    return waited(cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL));
}

status cudaMemcpy2DArrayToArray(void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
                                size_t width, size_t height, int kind)
{
    return waited(copy_rows((struct plim_copy){ .width = width, .height = height }, &(struct spot){ to, to_x, to_y },
                            &(struct spot){ from, from_x, from_y }, kind, NULL));
}

/* --- deprecated: bytes in the order of rows, which have no gaps here --- */

static status find_bytes(const struct spot *spot, size_t size, char **ret_start)
{
    struct plim_array_place place;
    status error = find(spot, 0, 0, &place);
    if (!error && size > (place.height - spot->y) * place.row_bytes - spot->x)
        error = PLIM_CUDA_INVALID_VALUE;
    *ret_start = error ? NULL : place.start;
    return error;
}

static status copy_bytes(void *to, const void *from, size_t size, int kind, void *stream)
{
    return copy_rows((struct plim_copy){ .to = to, .from = from, .width = size, .height = 1 }, NULL, NULL, kind,
                     stream);
}

status cudaMemcpyToArrayAsync(void *to, size_t x, size_t y, const void *from, size_t size, int kind, void *stream)
{
    char *start;
    status error = find_bytes(&(struct spot){ to, x, y }, size, &start);
    return error ? fail(error) : copy_bytes(start, from, size, kind, stream);
}

status cudaMemcpyToArray(void *to, size_t x, size_t y, const void *from, size_t size, int kind)
{
    return waited(cudaMemcpyToArrayAsync(to, x, y, from, size, kind, NULL));
}

status cudaMemcpyFromArrayAsync(void *to, const void *from, size_t x, size_t y, size_t size, int kind, void *stream)
{
    char *start;
    status error = find_bytes(&(struct spot){ from, x, y }, size, &start);
    return error ? fail(error) : copy_bytes(to, start, size, kind, stream);
}

status cudaMemcpyFromArray(void *to, const void *from, size_t x, size_t y, size_t size, int kind)
{
    return waited(cudaMemcpyFromArrayAsync(to, from, x, y, size, kind, NULL));
}

status cudaMemcpyArrayToArray(void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y,
                              size_t size, int kind)
{
    char *start;
    status error = find_bytes(&(struct spot){ from, from_x, from_y }, size, &start);
    return error ? fail(error) : cudaMemcpyToArray(to, to_x, to_y, start, size, kind);
}

/* --- aliases for programs built with a default stream per thread --- */

#define ALSO(name, original) extern __typeof__(original) name __attribute__((alias(#original)))
ALSO(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray);
ALSO(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync);
ALSO(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray);
ALSO(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync);
ALSO(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray);
ALSO(cudaMemcpyToArray_ptds, cudaMemcpyToArray);
ALSO(cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArrayAsync);
ALSO(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray);
ALSO(cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArrayAsync);
ALSO(cudaMemcpyArrayToArray_ptds, cudaMemcpyArrayToArray);

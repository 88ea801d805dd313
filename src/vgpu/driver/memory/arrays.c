/* SPDX-License-Identifier: MIT */
/*
 * libcuda: arrays. How much memory the driver takes for one (tiles, padding of rows, the tail of mipmaps) is not
 * documented: it is charged as its elements, rounded as cuMemAlloc() rounds. Basis: assumed, a lower bound.
 */
#include "vgpu/driver/memory/arrays.h"

#include "vgpu/core/objects.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/memory/device_memory.h"
#include "vgpu/values/shadow.h"

/* Flags of CUDA_ARRAY3D_DESCRIPTOR */
enum { LAYERED = 1, CUBEMAP = 4, SPARSE = 0x40, DEFERRED_MAPPING = 0x80, ALL_FLAGS = 0xff };
enum { SIDES_OF_A_CUBE = 6 };

struct array {
    struct cu_array_3d shape;
    uint64_t address;
    uint64_t base, memory_id; /* of the allocation that it is in */
    unsigned n_levels;        /* of a mipmapped array; 0: an array or a level */
    bool is_level;
    struct plim_object *next; /* the first level of a mipmapped array; of a level: the next one */
};

static struct array *array_of(const void *handle)
{
    struct plim_object *object = plim_object_of(handle, PLIM_OBJECT_ARRAY);
    return object ? PLIM_BODY(object, array) : NULL;
}

/* CUarray_format: the basic ones; 0: another one. */
static unsigned channel_bytes(int format)
{
    switch (format) {
    case 0x01: /* unsigned */
    case 0x08: /* signed */
        return 1;
    case 0x02:
    case 0x09:
    case 0x10: /* half */
        return 2;
    case 0x03:
    case 0x0a:
    case 0x20: /* float */
        return 4;
    default:
        return 0;
    }
}

static size_t at_least_1(size_t n) { return n ? n : 1; }

/*
 * Maxima of the table "Technical Specifications per Compute Capability", the same for 6.0 and all later: one, two and
 * three dimensions, and layers of one and two.
 */
static bool is_within_limits(const struct cu_array_3d *shape)
{
    enum { WIDTH_1D = 131072, HEIGHT_2D = 65536, SIDE_3D = 16384, SIDE_LAYERED = 32768, LAYERS = 2048 };
    const size_t width = shape->width, height = shape->height, depth = shape->depth;
    if (shape->flags & (LAYERED | CUBEMAP))
        return width <= SIDE_LAYERED && height <= SIDE_LAYERED && depth <= LAYERS;
    if (depth)
        return width <= SIDE_3D && height <= SIDE_3D && depth <= SIDE_3D;
    return width <= WIDTH_1D && height <= HEIGHT_2D;
}

static status check_shape(const struct cu_array_3d *shape)
{
    const bool is_layered = shape->flags & LAYERED, is_cube = shape->flags & CUBEMAP;
    if (shape->flags & (SPARSE | DEFERRED_MAPPING) || (shape->format && !channel_bytes(shape->format)))
        return PLIM_CUDA_NOT_SUPPORTED;
    if (!shape->format || (shape->n_channels != 1 && shape->n_channels != 2 && shape->n_channels != 4) ||
        shape->flags & ~(unsigned)ALL_FLAGS || !is_within_limits(shape))
        return PLIM_CUDA_INVALID_VALUE;
    if (shape->width == 0 || (shape->depth && !shape->height && !is_layered) || (is_layered && !shape->depth))
        return PLIM_CUDA_INVALID_VALUE;
    if (is_cube && (shape->width != shape->height || shape->depth % SIDES_OF_A_CUBE || !shape->depth ||
                    (!is_layered && shape->depth != SIDES_OF_A_CUBE)))
        return PLIM_CUDA_INVALID_VALUE;
    return PLIM_CUDA_SUCCESS;
}

/* At most 131072 x 65536 or 16384 cubed elements of 16 bytes, and twice that with mipmaps: no overflow. */
static uint64_t bytes_of(const struct cu_array_3d *shape)
{
    return (uint64_t)shape->width * at_least_1(shape->height) * at_least_1(shape->depth) *
           channel_bytes(shape->format) * shape->n_channels;
}

static size_t half(size_t n) { return n > 1 ? n / 2 : n; }

/* Layers and the sides of a cube are not halved. */
static void next_level(struct cu_array_3d *shape)
{
    shape->width = half(shape->width);
    shape->height = half(shape->height);
    if (!(shape->flags & (LAYERED | CUBEMAP)))
        shape->depth = half(shape->depth);
}

static unsigned most_levels(struct cu_array_3d shape)
{
    unsigned n = 1;
    for (; shape.width > 1 || shape.height > 1 || (shape.depth > 1 && !(shape.flags & (LAYERED | CUBEMAP))); n++)
        next_level(&shape);
    return n;
}

static bool is_alive(const struct array *array)
{
    struct plim_device_memory memory;
    return !plim_device_memory_at(array->base, &memory) && memory.id == array->memory_id;
}

static void drop_levels(struct array *array)
{
    while (array->next) {
        struct plim_object *level = array->next;
        array->next = PLIM_BODY(level, array)->next;
        plim_object_drop(level);
    }
}

/* The levels lie one after the other. */
static bool make_levels(struct array *array)
{
    struct cu_array_3d shape = array->shape;
    struct plim_object **link = &array->next;
    uint64_t address = array->base;
    for (unsigned i = 0; i < array->n_levels; i++) {
        const struct array level = {
            .shape = shape, .address = address, .base = array->base, .memory_id = array->memory_id, .is_level = true
        };
        *link = plim_object_make(PLIM_OBJECT_ARRAY, &level, sizeof level);
        if (!*link)
            return false;
        link = &PLIM_BODY(*link, array)->next;
        address += bytes_of(&shape);
        next_level(&shape);
    }
    return true;
}

/* NULL: no room. */
static struct plim_object *make(struct array *array)
{
    PLIM_OBJECTS_LOCKED;
    struct plim_object *made = make_levels(array) ? plim_object_make(PLIM_OBJECT_ARRAY, array, sizeof *array) : NULL;
    if (!made)
        drop_levels(array);
    return made;
}

static status create(void **ret_array, const struct cu_array_3d *shape, unsigned n_levels)
{
    struct plim_device_memory memory;
    uint64_t bytes = 0;
    status error = plim_context_need();
    if (error || !ret_array || !shape)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    struct array array = { .shape = *shape, .n_levels = n_levels };
    if ((error = check_shape(shape)))
        return error == PLIM_CUDA_NOT_SUPPORTED
                   ? plim_vgpu_unsupported("an array of this format or without memory", __builtin_return_address(0))
                   : error;
    if (n_levels > most_levels(*shape))
        array.n_levels = most_levels(*shape);
    struct cu_array_3d level = *shape;
    for (unsigned i = 0; i < array.n_levels || i == 0; i++, next_level(&level))
        bytes += bytes_of(&level);
    device_pointer base;
    if ((error = cuMemAlloc_v2(&base, bytes)))
        return error;
    array.address = array.base = base;
    array.memory_id = plim_device_memory_at(base, &memory) ? 0 : memory.id;
    struct plim_object *made = make(&array);
    if (!made) {
        (void)cuMemFree_v2(base);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    plim_vgpu_remark("assumed", "an array takes the memory of its elements: its padding is not documented");
    *ret_array = made;
    return PLIM_CUDA_SUCCESS;
}

static status destroy(void *handle, bool is_mipmapped)
{
    uint64_t base = 0;
    plim_objects_lock();
    struct array *array = array_of(handle);
    const bool is_right = array && !array->is_level && (array->n_levels > 0) == is_mipmapped;
    if (is_right) {
        base = is_alive(array) ? array->base : 0;
        drop_levels(array);
        plim_object_drop(handle);
    }
    plim_objects_unlock();
    if (!is_right)
        return PLIM_CUDA_INVALID_HANDLE;
    return base ? cuMemFree_v2(base) : PLIM_CUDA_INVALID_HANDLE;
}

/* --- arrays --- */

status cuArray3DCreate_v2(void **ret_array, const struct cu_array_3d *shape) { return create(ret_array, shape, 0); }

status cuArrayCreate_v2(void **ret_array, const struct cu_array *shape)
{
    if (!shape)
        return PLIM_CUDA_INVALID_VALUE;
    return create(
        ret_array,
        &(struct cu_array_3d){
            .width = shape->width, .height = shape->height, .format = shape->format, .n_channels = shape->n_channels },
        0);
}

status cuArrayDestroy(void *array) { return destroy(array, false); }

status cuArray3DGetDescriptor_v2(struct cu_array_3d *ret_shape, void *handle)
{
    PLIM_OBJECTS_LOCKED;
    const struct array *array = array_of(handle);
    if (!ret_shape)
        return PLIM_CUDA_INVALID_VALUE;
    if (!array || array->n_levels)
        return PLIM_CUDA_INVALID_HANDLE;
    *ret_shape = array->shape;
    return PLIM_CUDA_SUCCESS;
}

status cuArrayGetDescriptor_v2(struct cu_array *ret_shape, void *handle)
{
    struct cu_array_3d shape;
    status error = ret_shape ? cuArray3DGetDescriptor_v2(&shape, handle) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        *ret_shape = (struct cu_array){ shape.width, shape.height, shape.format, shape.n_channels };
    return error;
}

/* --- mipmapped arrays --- */

/* The number of levels is made to fit (reference). */
status cuMipmappedArrayCreate(void **ret_array, const struct cu_array_3d *shape, unsigned n_levels)
{
    return create(ret_array, shape, n_levels ? n_levels : 1);
}

status cuMipmappedArrayGetLevel(void **ret_level, void *handle, unsigned number)
{
    PLIM_OBJECTS_LOCKED;
    const struct array *array = array_of(handle);
    if (!array || !array->n_levels)
        return PLIM_CUDA_INVALID_HANDLE;
    if (!ret_level || number >= array->n_levels)
        return PLIM_CUDA_INVALID_VALUE;
    struct plim_object *level = array->next;
    for (unsigned i = 0; i < number && level; i++)
        level = PLIM_BODY(level, array)->next;
    *ret_level = level;
    return level ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
}

status cuMipmappedArrayDestroy(void *array) { return destroy(array, true); }

/* --- for copies, textures and surfaces --- */

int plim_vgpu_array_place(const void *handle, struct plim_array_place *ret_place)
{
    PLIM_OBJECTS_LOCKED;
    const struct array *array = array_of(handle);
    if (!array || array->n_levels || !is_alive(array))
        return PLIM_CUDA_INVALID_HANDLE;
    const struct cu_array_3d *shape = &array->shape;
    const size_t element = (size_t)channel_bytes(shape->format) * shape->n_channels;
    *ret_place = (struct plim_array_place){ (char *)(uintptr_t)array->address, element, shape->width * element,
                                            at_least_1(shape->height), at_least_1(shape->depth) };
    return PLIM_CUDA_SUCCESS;
}

int plim_array_check(const void *handle, bool is_mipmapped)
{
    PLIM_OBJECTS_LOCKED;
    const struct array *array = array_of(handle);
    return array && (array->n_levels > 0) == is_mipmapped && is_alive(array) ? PLIM_CUDA_SUCCESS
                                                                             : PLIM_CUDA_INVALID_HANDLE;
}

int plim_array_write_by_kernels(const void *handle)
{
    struct plim_array_place place;
    status error = plim_vgpu_array_place(handle, &place);
    if (error)
        return error;
    const size_t bytes = place.row_bytes * place.height * place.depth;
    plim_shadow_share(place.start, bytes);
    plim_shadow_forget(place.start, bytes);
    return PLIM_CUDA_SUCCESS;
}

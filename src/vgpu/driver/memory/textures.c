/* SPDX-License-Identifier: MIT */
/*
 * libcuda: texture and surface objects: handles that keep their description. No kernel here reads through one, so
 * textures change nothing; through a surface kernels write, so the values of its array are unknown from then on.
 */
#include "vgpu/driver/memory/textures.h"

#include "vgpu/core/objects.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/memory/arrays.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_ARRAY = 0, TYPE_MIPMAPPED = 1, TYPE_LINEAR = 2, TYPE_PITCHED = 3 };

struct texture {
    struct plim_texture_text *text; /* allocated */
    bool is_surface;
};

static struct texture *texture_of(uint64_t handle, bool is_surface)
{
    struct plim_object *object = plim_object_of((const void *)(uintptr_t)handle, PLIM_OBJECT_TEXTURE);
    struct texture *texture = object ? PLIM_BODY(object, texture) : NULL;
    return texture && texture->is_surface == is_surface ? texture : NULL;
}

static status check(int type, const void *array, bool is_surface)
{
    status error = plim_context_need();
    if (error)
        return error;
    if (is_surface)
        return type == TYPE_ARRAY ? plim_array_write_by_kernels(array) : PLIM_CUDA_INVALID_VALUE;
    if (type == TYPE_ARRAY || type == TYPE_MIPMAPPED)
        return plim_array_check(array, type == TYPE_MIPMAPPED);
    if (type != TYPE_LINEAR && type != TYPE_PITCHED)
        return PLIM_CUDA_INVALID_VALUE;
    return plim_vgpu_is_device(array) ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

int plim_vgpu_texture_make(const struct plim_texture_text *text, int type, const void *memory, bool is_surface,
                           uint64_t *ret_handle)
{
    status error = check(type, memory, is_surface);
    if (error)
        return error;
    struct texture texture = { malloc(sizeof *text), is_surface };
    if (!texture.text)
        return PLIM_CUDA_OUT_OF_MEMORY;
    *texture.text = *text;
    struct plim_object *made = plim_object_make(PLIM_OBJECT_TEXTURE, &texture, sizeof texture);
    if (!made) {
        free(texture.text);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    *ret_handle = (uint64_t)(uintptr_t)made;
    return PLIM_CUDA_SUCCESS;
}

int plim_vgpu_texture_text(uint64_t handle, bool is_surface, struct plim_texture_text *ret_text)
{
    PLIM_OBJECTS_LOCKED;
    const struct texture *texture = texture_of(handle, is_surface);
    if (texture)
        *ret_text = *texture->text;
    return texture ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

static status destroy(uint64_t handle, bool is_surface)
{
    struct plim_texture_text *text = NULL;
    plim_objects_lock();
    const struct texture *texture = texture_of(handle, is_surface);
    if (texture) {
        text = texture->text;
        plim_object_drop((struct plim_object *)(uintptr_t)handle);
    }
    plim_objects_unlock();
    free(text);
    return text ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
}

/* --- textures --- */

status cuTexObjectCreate(uint64_t *ret_texture, const struct cu_resource *resource, const struct cu_texture *texture,
                         const struct cu_resource_view *view)
{
    struct plim_texture_text text = { .has_view = view != NULL };
    if (!ret_texture || !resource || !texture)
        return PLIM_CUDA_INVALID_VALUE;
    memcpy(text.resource, resource, sizeof *resource);
    memcpy(text.texture, texture, sizeof *texture);
    if (view)
        memcpy(text.view, view, sizeof *view);
    return plim_vgpu_texture_make(&text, resource->type, resource->of.array, false, ret_texture);
}

status cuTexObjectDestroy(uint64_t texture) { return destroy(texture, false); }

/* A description in the runtime's terms is not translated. */
static status text_of(uint64_t handle, bool is_surface, struct plim_texture_text *ret_text)
{
    status error = plim_vgpu_texture_text(handle, is_surface, ret_text);
    return !error && ret_text->is_of_runtime
               ? plim_vgpu_unsupported("the driver's description of an object of the runtime",
                                       __builtin_return_address(0))
               : error;
}

status cuTexObjectGetResourceDesc(struct cu_resource *ret_resource, uint64_t texture)
{
    struct plim_texture_text text;
    status error = ret_resource ? text_of(texture, false, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_resource, text.resource, sizeof *ret_resource);
    return error;
}

status cuTexObjectGetTextureDesc(struct cu_texture *ret_texture, uint64_t texture)
{
    struct plim_texture_text text;
    status error = ret_texture ? text_of(texture, false, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_texture, text.texture, sizeof *ret_texture);
    return error;
}

/* An error for a texture that was made without a view (reference). */
status cuTexObjectGetResourceViewDesc(struct cu_resource_view *ret_view, uint64_t texture)
{
    struct plim_texture_text text;
    status error = ret_view ? text_of(texture, false, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error && !text.has_view)
        error = PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_view, text.view, sizeof *ret_view);
    return error;
}

/* --- surfaces --- */

status cuSurfObjectCreate(uint64_t *ret_surface, const struct cu_resource *resource)
{
    struct plim_texture_text text = { .has_view = false };
    if (!ret_surface || !resource)
        return PLIM_CUDA_INVALID_VALUE;
    memcpy(text.resource, resource, sizeof *resource);
    return plim_vgpu_texture_make(&text, resource->type, resource->of.array, true, ret_surface);
}

status cuSurfObjectDestroy(uint64_t surface) { return destroy(surface, true); }

status cuSurfObjectGetResourceDesc(struct cu_resource *ret_resource, uint64_t surface)
{
    struct plim_texture_text text;
    status error = ret_resource ? text_of(surface, true, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_resource, text.resource, sizeof *ret_resource);
    return error;
}

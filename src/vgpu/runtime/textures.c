/* SPDX-License-Identifier: MIT */
/* libcudart: texture and surface objects. */
#include "vgpu/driver/memory/textures.h"

#include "vgpu/runtime/runtime.h"
#include "vgpu/runtime/runtime_api.h"

#include <string.h>

static status fail(status error)
{
    return plim_runtime_fail(error == PLIM_CUDA_INVALID_HANDLE ? PLIM_CUDA_INVALID_VALUE : error);
}

/* What the program is told of an object: size bytes of one of its structures. */
static status text_of(uint64_t handle, bool is_surface, struct plim_texture_text *ret_text)
{
    status error = plim_runtime_ready();
    if (!error && !(error = plim_vgpu_texture_text(handle, is_surface, ret_text)) && !ret_text->is_of_runtime)
        error =
            plim_vgpu_unsupported("the runtime's description of an object of the driver", __builtin_return_address(0));
    return error;
}

status cudaCreateTextureObject(uint64_t *ret_texture, const struct cuda_resource *resource,
                               const struct cuda_texture *texture, const struct cuda_resource_view *view)
{
    struct plim_texture_text text = { .has_view = view != NULL, .is_of_runtime = true };
    status error = plim_runtime_ready();
    if (error || !ret_texture || !resource || !texture)
        return fail(error ? error : PLIM_CUDA_INVALID_VALUE);
    memcpy(text.resource, resource, sizeof *resource);
    memcpy(text.texture, texture, sizeof *texture);
    if (view)
        memcpy(text.view, view, sizeof *view);
    return fail(plim_vgpu_texture_make(&text, resource->type, resource->memory, false, ret_texture));
}

status cudaDestroyTextureObject(uint64_t texture)
{
    status error = plim_runtime_ready();
    return fail(error ? error : cuTexObjectDestroy(texture));
}

status cudaGetTextureObjectResourceDesc(struct cuda_resource *ret_resource, uint64_t texture)
{
    struct plim_texture_text text;
    status error = ret_resource ? text_of(texture, false, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_resource, text.resource, sizeof *ret_resource);
    return fail(error);
}

status cudaGetTextureObjectTextureDesc(struct cuda_texture *ret_texture, uint64_t texture)
{
    struct plim_texture_text text;
    status error = ret_texture ? text_of(texture, false, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_texture, text.texture, sizeof *ret_texture);
    return fail(error);
}

status cudaGetTextureObjectResourceViewDesc(struct cuda_resource_view *ret_view, uint64_t texture)
{
    struct plim_texture_text text;
    status error = ret_view ? text_of(texture, false, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error && !text.has_view)
        error = PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_view, text.view, sizeof *ret_view);
    return fail(error);
}

status cudaCreateSurfaceObject(uint64_t *ret_surface, const struct cuda_resource *resource)
{
    struct plim_texture_text text = { .is_of_runtime = true };
    status error = plim_runtime_ready();
    if (error || !ret_surface || !resource)
        return fail(error ? error : PLIM_CUDA_INVALID_VALUE);
    memcpy(text.resource, resource, sizeof *resource);
    return fail(plim_vgpu_texture_make(&text, resource->type, resource->memory, true, ret_surface));
}

status cudaDestroySurfaceObject(uint64_t surface)
{
    status error = plim_runtime_ready();
    return fail(error ? error : cuSurfObjectDestroy(surface));
}

status cudaGetSurfaceObjectResourceDesc(struct cuda_resource *ret_resource, uint64_t surface)
{
    struct plim_texture_text text;
    status error = ret_resource ? text_of(surface, true, &text) : PLIM_CUDA_INVALID_VALUE;
    if (!error)
        memcpy(ret_resource, text.resource, sizeof *ret_resource);
    return fail(error);
}

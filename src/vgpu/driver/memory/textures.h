/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_TEXTURES_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_TEXTURES_H

/* Texture and surface objects, for the driver and the runtime. Errors are CUDA's. */

#include "vgpu/core/session.h"

/* As the program gave them: the structures of the driver, or of the runtime, which are smaller. */
struct plim_texture_text {
    unsigned char resource[144], texture[104], view[112];
    bool has_view, is_of_runtime;
};

/* type: 0 array, 1 mipmapped array, 2 and 3 memory: that at `memory`. Only an array has a surface. */
PLIM_VGPU_EXPORT int plim_vgpu_texture_make(const struct plim_texture_text *text, int type, const void *memory,
                                            bool is_surface, uint64_t *ret_handle);
PLIM_VGPU_EXPORT int plim_vgpu_texture_text(uint64_t handle, bool is_surface, struct plim_texture_text *ret_text);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_LAUNCHES_H
#define PLIMSOLL_VGPU_DRIVER_LAUNCHES_H

/* Work that the other virtual libraries put into a stream. Errors are those of CUDA. */

#include "vgpu/core/session.h"

/* A kernel. */
PLIM_VGPU_EXPORT int plim_vgpu_launch(void *stream);

/* A copy or a fill. The caller moves the bytes itself, whether or not the stream captures. */
PLIM_VGPU_EXPORT int plim_vgpu_note_copy(void *stream);

PLIM_VGPU_EXPORT bool plim_vgpu_is_stream(const void *stream);

/* Address space for a variable of a kernel, which is charged with the code. */
PLIM_VGPU_EXPORT int plim_vgpu_place_variable(int device, uint64_t size, uint64_t *ret_address);

#endif

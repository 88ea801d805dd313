/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_LAUNCHES_H
#define PLIMSOLL_VGPU_DRIVER_LAUNCHES_H

/* Work that the other virtual libraries put into a stream. Errors are those of CUDA. */

#include "vgpu/core/session.h"

#include "vgpu/kernels/kernel.h"

/* A kernel of libcudart, which is a function of the host. kernel: NULL if it has no name. */
PLIM_VGPU_EXPORT int plim_vgpu_launch_kernel(void *stream, const struct plim_meaning *kernel, void **parameters,
                                             const unsigned grid[3], const unsigned block[3]);

/* The driver's handle of such a kernel, in *library, which is made from its fat binary if it is NULL. */
PLIM_VGPU_EXPORT int plim_vgpu_host_kernel(void **library, const void *fat_binary, const char *name,
                                           const struct plim_meaning *meaning, void **ret_function);

/*
 * Work of a library. run(context) tells what becomes of the values of device memory: now, or at each launch of the
 * graph that captures the stream, with a copy of size bytes of the context. run: NULL if they do not change.
 */
PLIM_VGPU_EXPORT int plim_vgpu_launch(void *stream, void (*run)(const void *context), const void *context, size_t size);

PLIM_VGPU_EXPORT bool plim_vgpu_is_stream(const void *stream);

/* Whether work in this stream becomes a node of a graph. */
PLIM_VGPU_EXPORT bool plim_vgpu_captures(const void *stream);

/* Address space for a variable of a kernel, which is charged with the code. */
PLIM_VGPU_EXPORT int plim_vgpu_place_variable(int device, uint64_t size, uint64_t *ret_address);

#endif

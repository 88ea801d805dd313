/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_REDUCE_JIT_H
#define PLIMSOLL_VGPU_KERNELS_REDUCE_JIT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The product over dimensions, which PyTorch compiles while it runs (NVRTC) and launches through the driver: `object`
 * is the only parameter of the kernel with this name. False: this is another kernel, and nothing has been done.
 */
bool plim_jit_reduction_run(const char *name, const void *object, size_t size);

#endif

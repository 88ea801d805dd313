/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MODULES_H
#define PLIMSOLL_VGPU_DRIVER_MODULES_H

/*
 * Code that programs load, and its kernels. A module and a library share a handle, and so do a function and a kernel.
 */

#include "vgpu/core/objects.h"
#include "vgpu/driver/cubin.h"
#include "vgpu/kernels/kernel.h"

struct plim_kernel {
    struct plim_object *module;
    char *name;
    struct plim_cubin_kernel code;
    const struct plim_meaning *meaning; /* of a kernel of libcudart, which has no code here; else NULL */
    /* set by any thread, at any time */
    _Atomic int max_dynamic_shared_bytes, carveout;
    _Atomic bool may_have_large_clusters;
};

/* NULL: not a kernel. */
struct plim_kernel *plim_kernel_of(const void *handle);

/* Blocks of a kernel that fit on one multiprocessor, by threads, registers and shared memory. */
int plim_occupancy(int device, const struct plim_cubin_kernel *code, int block_size, size_t shared_bytes);

#endif

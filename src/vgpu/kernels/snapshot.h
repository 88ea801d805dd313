/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_SNAPSHOT_H
#define PLIMSOLL_VGPU_KERNELS_SNAPSHOT_H

/* A launch with copies of its parameters, as CUDA makes them when a kernel becomes a node of a graph. */

#include "vgpu/kernels/kernel.h"

struct plim_snapshot;

/* NULL: no memory. If the parameters cannot be copied, a launch makes all values unknown. */
struct plim_snapshot *plim_snapshot_make(const struct plim_meaning *kernel, void **parameters, const unsigned grid[3],
                                         const unsigned block[3]);

/* Launch it (once more). */
void plim_snapshot_apply(const struct plim_snapshot *snapshot);

void plim_snapshot_free(struct plim_snapshot *snapshot);

#endif

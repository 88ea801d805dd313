/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_GRAPHS_GRAPHS_H
#define PLIMSOLL_VGPU_DRIVER_GRAPHS_GRAPHS_H

/* Graphs, as programs build them; exec.c launches them. */

#include "vgpu/driver/graphs/nodes.h"

/* With the lock of the objects held, which is let go while user objects are dropped. */
void plim_cuda_graph_free(struct plim_object *graph);

#endif

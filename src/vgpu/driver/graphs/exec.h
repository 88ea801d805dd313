/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_GRAPHS_EXEC_H
#define PLIMSOLL_VGPU_DRIVER_GRAPHS_EXEC_H

/* An executable graph. */

#include "vgpu/driver/graphs/sequence.h"

/* NULL: the handle is not one. With the lock of the objects held. */
struct plim_sequence *plim_exec_sequence(const void *handle);

#endif

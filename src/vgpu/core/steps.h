/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_STEPS_H
#define PLIMSOLL_VGPU_CORE_STEPS_H

/*
 * What the program has its cards do, as a sequence that a loop shows up in: the launcher looks for what repeats. No
 * lock is taken. A cycle is what was launched between two copies from or to the host, or waits for a card. Its hash
 * does not depend on the order, because threads launch side by side.
 */

#include "vgpu/core/session.h"

/* A kernel was launched, or a graph: whatever tells it from others. */
PLIM_VGPU_EXPORT void plim_vgpu_launched(const void *what);

/* The program waited for a card, or copied from or to the host. */
PLIM_VGPU_EXPORT void plim_vgpu_waited(void);

#endif

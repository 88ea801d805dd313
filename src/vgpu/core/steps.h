/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_STEPS_H
#define PLIMSOLL_VGPU_CORE_STEPS_H

/*
 * The launches of a program as a sequence of cycles: the launcher looks for a repeating pattern, the steps of a loop. A
 * cycle is the set of launches between two synchronizations (a wait for a card, a copy from or to the host), or from a
 * graph on: XLA launches one for each step, and waits for none. Its hash does not depend on their order, because
 * threads launch concurrently. No lock is taken.
 */

#include "vgpu/core/session.h"

/* A kernel was launched; `what` identifies it. */
PLIM_VGPU_EXPORT void plim_vgpu_launched(const void *what);

/* A graph of so many nodes was launched. */
PLIM_VGPU_EXPORT void plim_vgpu_launched_graph(const void *what, size_t n_nodes);

/* Work ran on a device of this process: its card was busy at this moment (activity.h). */
PLIM_VGPU_EXPORT void plim_vgpu_ran(int device);

/* The program waited for a card, or copied from or to the host. */
PLIM_VGPU_EXPORT void plim_vgpu_waited(void);

#endif

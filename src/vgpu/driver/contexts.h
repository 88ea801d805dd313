/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_CONTEXTS_H
#define PLIMSOLL_VGPU_DRIVER_CONTEXTS_H

/*
 * Contexts: the primary one of each device, those that the program makes, and a stack of current contexts per thread.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/objects.h"

/* The device of this thread's current context; -1: no current context. */
int plim_context_device(void);

/* The current context, or NULL. */
void *plim_context_current(void);

/* The device of a context, or -1. */
int plim_context_device_of(const void *context);

/* Nobody retains the primary context of a device any more. */
void plim_context_release_all(int device);

/* The device of this thread's current context, for the runtime; -1: no current context. */
PLIM_VGPU_EXPORT int plim_vgpu_current_device(void);

/* An error unless the thread has a current context. */
status plim_context_need(void);

/* An error unless CUDA is available and the device exists. */
status plim_context_check_device(int device);

#endif

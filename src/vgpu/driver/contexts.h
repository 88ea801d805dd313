/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_CONTEXTS_H
#define PLIMSOLL_VGPU_DRIVER_CONTEXTS_H

/* Contexts of the driver: a primary one for each device, others that programs make, and a stack of them per thread. */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/objects.h"

/* The device of this thread's current context; -1: there is none. */
int plim_context_device(void);

/* The current context; NULL: none. */
void *plim_context_current(void);

/* The device of a context, or -1. */
int plim_context_device_of(const void *context);

/* An error unless the thread has a current context. */
status plim_context_need(void);

/* CUDA answers, the device exists. */
status plim_context_check_device(int device);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_RUNTIME_H
#define PLIMSOLL_VGPU_RUNTIME_RUNTIME_H

/*
 * Shared by the files of the virtual CUDA runtime. One source serves libcudart.so.11.0, .12 and .13: PLIM_CUDART is the
 * major version. Memory comes from the public functions of libcuda.so.1, as with NVIDIA's runtime, so that a library
 * preloaded between the two sees the calls.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/session.h"

/* Keep an error for cudaGetLastError() of this thread and return it. */
status plim_runtime_fail(status error);

/* The current device of this thread. */
int plim_runtime_device(void);

/* Make the context of the current device if it has none. */
status plim_runtime_ready(void);

/* An error unless the stream exists or is a default stream. */
status plim_runtime_stream(void *stream);

#endif

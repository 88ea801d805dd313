/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_RUNTIME_H
#define PLIMSOLL_VGPU_RUNTIME_RUNTIME_H

/*
 * What the files of the virtual CUDA runtime share. One source serves libcudart.so.12 and .13: PLIM_CUDART says which.
 * The declarations are our own, after the CUDA runtime API references (12.8 and 13.2). Memory comes from the public
 * functions of libcuda.so.1, as with NVIDIA's runtime, so that whoever stands between the two sees it.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/session.h"

/* Keep an error for cudaGetLastError() of this thread and return it. */
status plim_runtime_fail(status error);

/* The current device of this thread. */
int plim_runtime_device(void);

/* Make sure that the current device has a context; or an error. */
status plim_runtime_ready(void);

/* True for a stream that exists, or one of the default streams. Fails otherwise. */
status plim_runtime_stream(void *stream);

/* A copy is put into the stream: a node more, if it captures. */
status plim_runtime_capture(void *stream);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_RUNTIME_H
#define PLIMSOLL_VGPU_RUNTIME_RUNTIME_H

/*
 * What the files of the virtual CUDA runtime share. One source serves libcudart.so.12 and .13: PLIM_CUDART says which.
 * The declarations are our own, after the CUDA runtime API references (12.8 and 13.2). Memory comes from the public
 * functions of libcuda.so.1, as with NVIDIA's runtime, so that whoever stands between the two sees it.
 */

#include "vgpu/core/session.h"

typedef int status;

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

/* --- of the driver --- */

typedef unsigned long long device_pointer;

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(device_pointer *address, size_t size);
int cuMemAllocManaged(device_pointer *address, size_t size, unsigned flags);
int cuMemFree_v2(device_pointer address);
int cuMemHostAlloc(void **pointer, size_t size, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags);
int cuMemHostUnregister(void *pointer);
int cuMemHostGetDevicePointer_v2(device_pointer *address, void *pointer, unsigned flags);
int cuPointerGetAttribute(void *data, int attribute, device_pointer address);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetPCIBusId(char *text, int size, int device);
int cuDeviceGetByPCIBusId(int *device, const char *text);
int cuDeviceGetUuid(void *uuid, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetName(char *name, int size, int device);
int cuDriverGetVersion(int *version);

#endif

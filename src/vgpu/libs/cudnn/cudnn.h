/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUDNN_CUDNN_H
#define PLIMSOLL_VGPU_LIBS_CUDNN_CUDNN_H

/* Shared by the files of the virtual cuDNN. One source serves libcudnn.so.8 and .9: PLIM_MAJOR is the major version. */
#include "vgpu/libs/library.h"

#if PLIM_MAJOR >= 9
enum {
    CUDNN_SUCCESS = 0,
    CUDNN_NOT_INITIALIZED = 1001,
    CUDNN_BAD_PARAM = 2000,
    CUDNN_NULL_POINTER = 2002,
    CUDNN_NOT_FINALIZED = 2004,
    CUDNN_SIZE_INSUFFICIENT = 2006,
    CUDNN_ATTRIBUTE_TYPE = 2010,
    CUDNN_NOT_SUPPORTED = 3000,
    CUDNN_ALLOCATION_FAILED = 4003,
    CUDNN_DEVICE_ALLOCATION_FAILED = 4004,
    CUDNN_EXECUTION_FAILED = 5000,
};
#else /* coarser: several of 9 are one */
enum {
    CUDNN_SUCCESS = 0,
    CUDNN_NOT_INITIALIZED = 1,
    CUDNN_ALLOCATION_FAILED = 2,
    CUDNN_DEVICE_ALLOCATION_FAILED = CUDNN_ALLOCATION_FAILED,
    CUDNN_BAD_PARAM = 3,
    CUDNN_NULL_POINTER = CUDNN_BAD_PARAM,
    CUDNN_NOT_FINALIZED = CUDNN_BAD_PARAM,
    CUDNN_SIZE_INSUFFICIENT = CUDNN_BAD_PARAM,
    CUDNN_ATTRIBUTE_TYPE = CUDNN_BAD_PARAM,
    CUDNN_EXECUTION_FAILED = 8,
    CUDNN_NOT_SUPPORTED = 9,
};
#endif

/* Types of handles. */
enum {
    CUDNN_HANDLE = 1,
    CUDNN_TENSOR,
    CUDNN_FILTER,
    CUDNN_CONVOLUTION,
    CUDNN_POOLING,
    CUDNN_ACTIVATION,
    CUDNN_DROPOUT,
    CUDNN_SPATIAL,
    CUDNN_RNN,
    CUDNN_RNN_DATA,
    CUDNN_CTC,
    CUDNN_BACKEND,
};

enum { CUDNN_MAX_DIMENSIONS = 8 };

struct plim_cudnn {
    int device;
    void *stream;
    struct plim_library_charge own;
};

/* Of tensors and filters; a filter has a format instead of strides. */
struct plim_cudnn_tensor {
    int type, format, n;
    int size[CUDNN_MAX_DIMENSIONS], step[CUDNN_MAX_DIMENSIONS];
};

/* A function that writes device memory only: checks the handle and runs nothing. */
status plim_cudnn_run(const void *handle);

/* The same for a function that writes through some of its words, or to two addresses, which may be NULL. */
status plim_cudnn_write(const void *handle, const uintptr_t words[PLIM_N_WORDS]);
status plim_cudnn_write_to(const void *handle, uintptr_t first, uintptr_t second);

/* Create and destroy a descriptor. */
status plim_cudnn_make(void **ret_object, int kind, size_t size);
status plim_cudnn_drop(void *object, int kind);

/* Bytes of an element of a cudnnDataType_t; 0: unknown type. */
size_t plim_cudnn_element(int type);

/*
 * NVIDIA's library chooses the workspace of a convolution of three tensors. It is assumed to be what a change of layout
 * needs, the size of the tensors whose channels are not last, and the receipt says so. There is no upper bound to cite:
 * the manual says "significant", and users saw 48 GiB for a tensor of 2 GiB (pytorch/pytorch issue 31500), 27 GiB
 * (166790) and more than 8 GB (22741).
 */
void plim_cudnn_assume_workspace(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUBLAS_CUBLAS_H
#define PLIMSOLL_VGPU_LIBS_CUBLAS_CUBLAS_H

/*
 * Shared by the files of the virtual cuBLAS. One source serves libcublas.so.11 to .13: PLIM_MAJOR is the major
 * version.
 */
#include "vgpu/libs/library.h"

enum plim_cublas_status {
    CUBLAS_SUCCESS = 0,
    CUBLAS_NOT_INITIALIZED = 1,
    CUBLAS_ALLOC_FAILED = 3,
    CUBLAS_INVALID_VALUE = 7,
    CUBLAS_ARCH_MISMATCH = 8,
    CUBLAS_MAPPING_ERROR = 11,
    CUBLAS_EXECUTION_FAILED = 13,
    CUBLAS_INTERNAL_ERROR = 14,
    CUBLAS_NOT_SUPPORTED = 15,
    CUBLAS_LICENSE_ERROR = 16,
};

enum { CUBLAS_POINTER_HOST = 0, CUBLAS_POINTER_DEVICE = 1 };

struct plim_cublas {
    int device;
    int math_mode, pointer_mode, atomics_mode, sm_count_target;
    int emulation_strategy, emulation_values, mantissa_control, mantissa_max_bits, mantissa_offset;
    void *stream, *mantissa_count;
    struct plim_library_charge workspace;
};

struct plim_cublas *plim_cublas_of(const void *handle);

/* A function that writes device memory only: checks the handle and runs nothing. */
status plim_cublas_run(const void *handle);

/* The same for one that writes through some of its words. */
status plim_cublas_write(const void *handle, const uintptr_t words[PLIM_N_WORDS]);

#endif

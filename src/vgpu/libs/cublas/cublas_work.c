/* SPDX-License-Identifier: MIT */
/*
 * libcublas: the functions that take a handle first and write device memory only. The batched factorizations write
 * their error codes into device memory, too; those that report them to the host are in cublas_host.c.
 */
#include "vgpu/libs/cublas/cublas.h"
#include "vgpu/libs/cublas/cublas_api.h"

#define DEFINE(name)                                                                                                   \
    status cublas##name(const void *handle, PLIM_WORDS) { return plim_cublas_write(handle, PLIM_WORDS_GIVEN); }
CUBLAS_WORK(DEFINE)

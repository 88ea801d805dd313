/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_CUBIN_H
#define PLIMSOLL_VGPU_DRIVER_CUBIN_H

/*
 * The kernels and variables in code that a program loads. A cubin is an ELF file with a section per kernel; PTX is
 * text. Fat binaries are not opened: any name may be in them (UNKNOWN).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_CUBIN_MAX_PARAMETERS = 48 };

struct plim_cubin_kernel {
    int n_registers, max_threads, shared_bytes, local_bytes;
    int n_parameters;                                    /* -1: not known */
    uint16_t parameter_words[PLIM_CUBIN_MAX_PARAMETERS]; /* the size of each in 4 bytes, rounded down */
};

/* The length of an image in memory is not given: at most this is read. */
#define PLIM_CUBIN_MOST_BYTES ((uint64_t)1 << 30)

enum plim_cubin_answer { PLIM_CUBIN_NO, PLIM_CUBIN_YES, PLIM_CUBIN_UNKNOWN };

/* A kernel by name, within the first `limit` bytes; text ends with a zero. With UNKNOWN, *ret_kernel is zero. */
enum plim_cubin_answer plim_cubin_kernel(const void *image, uint64_t limit, const char *name,
                                         struct plim_cubin_kernel *ret_kernel);

/* A variable by name, and its size. */
enum plim_cubin_answer plim_cubin_variable(const void *image, uint64_t limit, const char *name, uint64_t *ret_size);

/* The i-th kernel of a cubin; NULL: no more kernels, or not a cubin. */
const char *plim_cubin_name(const void *image, uint64_t limit, unsigned i);

/* Bytes of a cubin from its beginning; 0: not a cubin. */
uint64_t plim_cubin_size(const void *image, uint64_t limit);

#endif

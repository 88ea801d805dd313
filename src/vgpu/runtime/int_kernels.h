/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_INT_KERNELS_H
#define PLIMSOLL_VGPU_RUNTIME_INT_KERNELS_H

/*
 * Integers and flags that small kernels of PyTorch compute: sums, maxima, offsets, products, comparisons, bits. Sizes
 * that ranks exchange, and the flag that ends a generation loop, go through such kernels before the program reads them.
 * The signatures are those of PyTorch 2.5 to 2.15 (aten/src/ATen/native/cuda: Reduce.cuh, CUDALoops.cuh, Loops.cuh,
 * MemoryAccess.cuh, BinaryInternal.h, CompareKernels.cu, CompareEQKernel.cu, BinaryBitwiseOpsKernels.cu, Copy.cu).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plim_int_kernel_operation {
    PLIM_INT_KERNEL_NONE,
    PLIM_INT_KERNEL_SUM, /* (ReduceOp) over integers of 8 bytes */
    PLIM_INT_KERNEL_MAX,
    PLIM_INT_KERNEL_MIN,
    PLIM_INT_KERNEL_ADD, /* elementwise from here on: a + alpha * b */
    PLIM_INT_KERNEL_MULTIPLY,
    PLIM_INT_KERNEL_AND,
    PLIM_INT_KERNEL_OR,
    PLIM_INT_KERNEL_XOR,
    PLIM_INT_KERNEL_EQUAL,   /* or unequal */
    PLIM_INT_KERNEL_COMPARE, /* >=, >, <=, < */
    PLIM_INT_KERNEL_NOT,     /* of a flag */
    PLIM_INT_KERNEL_CONVERT,
};

/* The operation of a kernel. Types are letters of the mangled name: l 8 bytes, i 4, s 2, a and h 1, b a flag. */
struct plim_int_kernel {
    uint8_t operation; /* enum plim_int_kernel_operation */
    char in[2], out;
    uint8_t n_inputs; /* buffers, without the operand in the functor */
    int8_t number;    /* which operand is in the functor: 0 or 1; -1: all are buffers */
    bool is_cast;     /* the buffers have other types, which the parameters give */
};

/* The operation of the kernel with this mangled name; NONE: not known. */
struct plim_int_kernel plim_int_kernel_of(const char *name);

enum { PLIM_INT_KERNEL_MAX_COUNT = 1024 };
struct plim_int_kernel_result {
    bool is_computed;
    int known; /* enum plim_shadow_known: that of the least known input */
    void *output;
    size_t size;
    uint8_t bytes[8 * PLIM_INT_KERNEL_MAX_COUNT];
};

/*
 * To be called before the launch: the values that it will write. Unknown inputs count as they would be read: zero, or
 * computed from zeros.
 */
void plim_int_kernel_compute(const struct plim_int_kernel *what, void **parameters,
                             struct plim_int_kernel_result *ret_result);

/* Whether the pointer is into allocated or mapped device memory. */
bool plim_int_kernel_is_buffer(const void *pointer);

/* The buffers of a reduction: input and output. False: not found. */
bool plim_int_kernel_reduction_buffers(const void *object, void *ret_buffers[2]);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_INT_KERNELS_H
#define PLIMSOLL_VGPU_RUNTIME_INT_KERNELS_H

/*
 * Whole numbers and flags that small kernels of PyTorch compute: sums, maxima, offsets, products, comparisons, bits.
 * Sizes that ranks exchange and the flag that ends a loop of generation go through them before the program reads them.
 * The forms are those of PyTorch 2.5 to 2.15 (aten/src/ATen/native/cuda: Reduce.cuh, CUDALoops.cuh, Loops.cuh,
 * MemoryAccess.cuh, BinaryInternal.h, CompareKernels.cu, CompareEQKernel.cu, BinaryBitwiseOpsKernels.cu, Copy.cu).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plim_int_kernel_operation {
    PLIM_INT_KERNEL_NONE,
    PLIM_INT_KERNEL_SUM, /* (ReduceOp) of numbers of 8 bytes, to one */
    PLIM_INT_KERNEL_MAX,
    PLIM_INT_KERNEL_MIN,
    PLIM_INT_KERNEL_ADD, /* from here on element by element: a + alpha * b */
    PLIM_INT_KERNEL_MULTIPLY,
    PLIM_INT_KERNEL_AND,
    PLIM_INT_KERNEL_OR,
    PLIM_INT_KERNEL_XOR,
    PLIM_INT_KERNEL_EQUAL,   /* or not */
    PLIM_INT_KERNEL_COMPARE, /* >=, >, <=, < */
    PLIM_INT_KERNEL_NOT,     /* of a flag */
    PLIM_INT_KERNEL_CONVERT,
};

/* What a kernel does. Types are letters of the mangled name: l 8 bytes, i 4, s 2, a and h 1, b a flag. */
struct plim_int_kernel {
    uint8_t operation; /* enum plim_int_kernel_operation */
    char in[2], out;
    uint8_t n_inputs; /* buffers; the number in the functor is an operand besides */
    int8_t number;    /* the operand that lies in the functor: 0 or 1; -1: none */
    bool is_cast;     /* what lies in memory has other types: the parameters say which */
};

/* What a kernel of this mangled name does; operation NONE: nothing that is known. */
struct plim_int_kernel plim_int_kernel_of(const char *name);

enum { PLIM_INT_KERNEL_MAX_COUNT = 1024 };
struct plim_int_kernel_result {
    bool is_computed;
    int known; /* enum plim_shadow_known: as the least known input */
    void *output;
    size_t size;
    uint8_t bytes[8 * PLIM_INT_KERNEL_MAX_COUNT];
};

/* Before the launch: what it will write. Inputs that nobody knows are taken as they are read: zero, or computed from
 * it. */
void plim_int_kernel_compute(const struct plim_int_kernel *what, void **parameters,
                             struct plim_int_kernel_result *ret_result);

/* Device memory that is allocated, or mapped. */
bool plim_int_kernel_is_buffer(const void *pointer);

/* The buffers of a reduction: its input and its output. False: they are not found. */
bool plim_int_kernel_reduction_buffers(const void *object, void *ret_buffers[2]);

#endif

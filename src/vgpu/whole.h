/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_WHOLE_H
#define PLIMSOLL_VGPU_WHOLE_H

/*
 * Whole numbers and flags that small kernels of PyTorch compute: sums, maxima, offsets, products, comparisons, bits.
 * Sizes that ranks exchange and the flag that ends a loop of generation go through them before the program reads them.
 * The forms are those of PyTorch 2.5 to 2.15 (aten/src/ATen/native/cuda: Reduce.cuh, CUDALoops.cuh, Loops.cuh,
 * MemoryAccess.cuh, BinaryInternal.h, CompareKernels.cu, CompareEQKernel.cu, BinaryBitwiseOpsKernels.cu, Copy.cu).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plim_whole_operation {
    PLIM_WHOLE_NONE,
    PLIM_WHOLE_SUM, /* (ReduceOp) of numbers of 8 bytes, to one */
    PLIM_WHOLE_MAX,
    PLIM_WHOLE_MIN,
    PLIM_WHOLE_ADD, /* from here on element by element: a + alpha * b */
    PLIM_WHOLE_MULTIPLY,
    PLIM_WHOLE_AND,
    PLIM_WHOLE_OR,
    PLIM_WHOLE_XOR,
    PLIM_WHOLE_EQUAL,   /* or not */
    PLIM_WHOLE_COMPARE, /* >=, >, <=, < */
    PLIM_WHOLE_NOT,     /* of a flag */
    PLIM_WHOLE_CONVERT,
};

/* What a kernel does. Types are letters of the mangled name: l 8 bytes, i 4, s 2, a and h 1, b a flag. */
struct plim_whole {
    uint8_t operation; /* enum plim_whole_operation */
    char in[2], out;
    uint8_t n_inputs; /* buffers; the number in the functor is an operand besides */
    int8_t number;    /* the operand that lies in the functor: 0 or 1; -1: none */
    bool is_cast;     /* what lies in memory has other types: the parameters say which */
};

/* What a kernel of this mangled name does; operation NONE: nothing that is known. */
struct plim_whole plim_whole_of(const char *name);

enum { PLIM_WHOLE_MAX_COUNT = 1024 };
struct plim_whole_result {
    bool is_computed;
    int known; /* enum plim_shadow_known: as the least known input */
    void *output;
    size_t size;
    uint8_t bytes[8 * PLIM_WHOLE_MAX_COUNT];
};

/* Before the launch: what it will write. Inputs that nobody knows are taken as they are read: zero, or computed from
 * it. */
void plim_whole_compute(const struct plim_whole *what, void **parameters, struct plim_whole_result *ret_result);

/* Device memory that is allocated, or mapped. */
bool plim_whole_is_buffer(const void *pointer);

/* The buffers of a reduction: its input and its output. False: they are not found. */
bool plim_whole_reduction_buffers(const void *object, void *ret_buffers[2]);

#endif

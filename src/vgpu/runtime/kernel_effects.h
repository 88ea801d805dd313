/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_KERNEL_EFFECTS_H
#define PLIMSOLL_VGPU_RUNTIME_KERNEL_EFFECTS_H

/*
 * What some kernels write, known by their names. A kernel does nothing here, and most do not say what they would write.
 * Those of PyTorch that make nearly all of the numbers a program looks at do: fills, elementwise kernels, reductions
 * and the count of nonzero() have parameters of a fixed form. So a number of the host that lay in the same place before
 * is not taken for theirs, and a fill is really made.
 */

#include "vgpu/runtime/int_kernels.h"

enum plim_kernel_effect_kind {
    PLIM_KERNEL_EFFECT_NONE,
    PLIM_KERNEL_EFFECT_ELEMENTS, /* (int n, functor, array of pointers...): the first pointer is the output */
    PLIM_KERNEL_EFFECT_FILL_1,   /* the same with FillFunctor<T>: T is 1, 2, 4 or 8 bytes */
    PLIM_KERNEL_EFFECT_FILL_2,
    PLIM_KERNEL_EFFECT_FILL_4,
    PLIM_KERNEL_EFFECT_FILL_8,
    PLIM_KERNEL_EFFECT_INDEXED, /* (n, functor, pointer to the output) */
    PLIM_KERNEL_EFFECT_LAMBDA,  /* (int n, functor): the functor holds an OffsetCalculator, then the pointers */
    PLIM_KERNEL_EFFECT_REDUCE,  /* (ReduceOp): const void *src, char *dst[2] in it */
    PLIM_KERNEL_EFFECT_JOIN_1,  /* (output, inputs, strides, dimension, stride): torch.cat of vectors of 1 or 8 bytes */
    PLIM_KERNEL_EFFECT_JOIN_8,
    PLIM_KERNEL_EFFECT_COUNT,   /* (input, output, number of inputs, ...): how many are not zero */
    PLIM_KERNEL_EFFECT_CARRIES, /* the second step of such a sum */
};

struct plim_kernel_effect {
    enum plim_kernel_effect_kind kind;
    struct plim_int_kernel whole;
};

/* What a kernel of this mangled name writes. */
struct plim_kernel_effect plim_kernel_effect_of(const char *name);

/* A launch with its parameters and the height of its grid. */
void plim_kernel_effect_launch(const struct plim_kernel_effect *effect, void **parameters, unsigned grid_y);

#endif

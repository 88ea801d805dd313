/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_KERNEL_EFFECTS_H
#define PLIMSOLL_VGPU_RUNTIME_KERNEL_EFFECTS_H

/*
 * The effects of some kernels, recognised by name. A kernel is not run here, and most do not tell what they would
 * write. The kernels of PyTorch that make nearly all of the numbers that a program reads do: fills, elementwise
 * kernels, reductions and the count of nonzero() have parameters of a fixed layout. So an older value of the host in
 * the same place is not mistaken for their result, and a fill is really made.
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
    PLIM_KERNEL_EFFECT_COUNT,   /* (input, output, number of inputs, ...): the number of nonzero ones */
    PLIM_KERNEL_EFFECT_CARRIES, /* the second step of such a sum */
};

struct plim_kernel_effect {
    enum plim_kernel_effect_kind kind;
    struct plim_int_kernel whole;
};

/* The effect of the kernel with this mangled name. */
struct plim_kernel_effect plim_kernel_effect_of(const char *name);

/* Apply the effect of a launch. */
void plim_kernel_effect_launch(const struct plim_kernel_effect *effect, void **parameters, unsigned grid_y);

#endif

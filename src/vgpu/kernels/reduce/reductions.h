/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_REDUCE_REDUCTIONS_H
#define PLIMSOLL_VGPU_KERNELS_REDUCE_REDUCTIONS_H

/*
 * The operations of reduce_kernel (ATen/native/SharedReduceOps.h, ReduceSumProdKernel.cu, ReduceLogicKernel.cu,
 * ReduceMaxValuesKernel.cu, ReduceNormKernel.cu; PyTorch 2.5 to 2.15).
 */

#include "vgpu/kernels/name.h"
#include "vgpu/kernels/view.h"

/* A part of an array that becomes one result: `n` numbers from `first` on. Of a constant, n may be of any size. */
struct plim_slice {
    const struct plim_array *array;
    uint64_t first, n;
};

/* Numbers that the operation holds: a factor, a power, a correction. */
struct plim_reduction_held {
    double number;
    bool flag;
};

/* One or two results; numbers of the type that the reduction accumulates in: as the input, an integer for an index. */
struct plim_reduced {
    union plim_scalar value[2];
    enum plim_shadow_known known;
};

struct plim_reduction {
    const char *name; /* in the text of the operation */
    void (*reduce)(const struct plim_slice *slice, const struct plim_reduction_held *held, struct plim_reduced *ret);
    uint8_t arg;       /* enum plim_reduction_arg */
    uint8_t held;      /* enum plim_reduction_held_kind */
    bool has_index[2]; /* this result is an index */
    bool is_flag;      /* the result is 0 or 1, an integer whatever the input is */
};

/* The accumulator, for the layout of the kernel's parameter: a value, a value and an index, two values, WelfordData */
enum plim_reduction_arg { PLIM_ARG_VALUE, PLIM_ARG_INDEXED, PLIM_ARG_TWO, PLIM_ARG_WELFORD };
enum plim_reduction_held_kind { PLIM_HELD_NOTHING, PLIM_HELD_NUMBER, PLIM_HELD_NUMBER_AND_FLAG };

/* NULL: not known. text: the second argument of ReduceOp<...>. */
const struct plim_reduction *plim_reduction_named(struct plim_text text);

#endif

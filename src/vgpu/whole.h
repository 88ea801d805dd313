/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_WHOLE_H
#define PLIMSOLL_VGPU_WHOLE_H

/*
 * Whole numbers of 8 bytes that kernels of PyTorch compute from known ones: sums, maxima, offsets, comparisons. Sizes
 * that ranks exchange go through them before the program reads them. The forms are those of PyTorch 2.5 to 2.15
 * (aten/src/ATen/native/cuda: Reduce.cuh, CUDALoops.cuh, BinaryInternal.h, CompareKernels.cu).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plim_whole {
    PLIM_WHOLE_NONE,
    PLIM_WHOLE_SUM, /* (ReduceOp) to one number */
    PLIM_WHOLE_MAX,
    PLIM_WHOLE_MIN,
    PLIM_WHOLE_ADD,        /* (n, alpha, {output, a, b}) */
    PLIM_WHOLE_ADD_NUMBER, /* (n, {number, alpha}, {output, a}) */
    PLIM_WHOLE_COMPARE,    /* (n, which, {output, a, b}) to bool */
};

/* What a kernel of this mangled name does. */
enum plim_whole plim_whole_of(const char *name);

enum { PLIM_WHOLE_MAX_COUNT = 1024 };
struct plim_whole_result {
    bool is_known, is_sure; /* not sure: kernels ran since the inputs were written */
    void *output;
    size_t size;
    int64_t values[PLIM_WHOLE_MAX_COUNT]; /* of a comparison: bytes */
};

/* Before the launch: what it will write. Nothing is known where an input is not, or the form is another. */
void plim_whole_compute(enum plim_whole what, void **parameters, struct plim_whole_result *ret_result);

/* The buffers of a reduction: its input and its output. False: they are not found. */
bool plim_whole_reduction_buffers(const void *object, void *ret_buffers[2]);

#endif

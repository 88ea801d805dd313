/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_FOREACH_LISTS_H
#define PLIMSOLL_VGPU_KERNELS_FOREACH_LISTS_H

/*
 * The first parameter of multi_tensor_apply_kernel: the tensors of one launch, and which block works on which chunk of
 * them (ATen/native/cuda/MultiTensorApply.cuh).
 */

#include "vgpu/kernels/kernel.h"

enum { PLIM_LISTS_MAX_DEPTH = 5, PLIM_LISTS_CHUNK_ELEMENTS = 65536 };

enum plim_lists_kind {
    PLIM_LISTS_PLAIN,    /* TensorListMetadata */
    PLIM_LISTS_SCALARS,  /* TensorListScalarListMetadata: a number for each tensor */
    PLIM_LISTS_OPTIMIZER /* FusedOptimizerTensorListMetadata: a pointer to its step for each tensor */
};

struct plim_lists {
    enum plim_lists_kind kind;
    unsigned depth, scalar_bytes;
    bool may_be_large; /* the arrays: see lists.c */
};

/* The consecutive chunks of one tensor that a launch works on. */
struct plim_lists_part {
    unsigned tensor; /* among all of the call's, if the kind tells */
    unsigned first_chunk, n_chunks;
    uint64_t first, n;                         /* elements */
    const void *address[PLIM_LISTS_MAX_DEPTH]; /* of the whole tensor in each list */
    const void *scalar;
};

/* From the name of the metadata's type. False: it is of another type. */
bool plim_lists_parse(struct plim_text metadata, struct plim_lists *ret_lists);

typedef void plim_lists_visit(void *context, const struct plim_lists_part *part);

/* Visits each tensor of a launch. False: the parameter cannot be read. */
bool plim_lists_each(const struct plim_lists *lists, const struct plim_kernel_launch *launch, plim_lists_visit *visit,
                     void *context);

#endif

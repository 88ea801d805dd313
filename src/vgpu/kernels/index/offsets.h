/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_INDEX_OFFSETS_H
#define PLIMSOLL_VGPU_KERNELS_INDEX_OFFSETS_H

/* What lambdas of TensorIterator's kernels hold, and types of which only the size matters. */

#include "vgpu/kernels/kernel.h"

#include <string.h>

/*
 * OffsetCalculator<n_arguments, index type of 4 or 8 bytes>: dims, sizes_[25], strides_[25][n_arguments]; a size is
 * divisor, m1 and shift of 4 bytes each, or a divisor of 8 bytes (ATen/cuda/detail/OffsetCalculator.cuh and
 * IntegerDivider.cuh; PyTorch 2.5 to 2.15). The walk over one argument; its address and element are not set. False: it
 * is none.
 */
bool plim_walk_of_offsets(const void *calculator, unsigned n_arguments, unsigned argument, unsigned index_bytes,
                          struct plim_view *ret_walk);

/* The bytes of a type: an element, complex, at::native::OpaqueType<N>; 0: another type. */
unsigned plim_type_bytes(struct plim_text type);

static inline uint64_t plim_word_at(const void *structure, size_t offset)
{
    uint64_t word;
    memcpy(&word, (const char *)structure + offset, sizeof word);
    return word;
}

#endif

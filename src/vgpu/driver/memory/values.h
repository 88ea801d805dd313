/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_VALUES_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_VALUES_H

/*
 * Copies and fills. Values go through the store of values/shadow.h, and those that the host reads are noted
 * (values/reads.h). Managed memory has its values in memory of the host.
 */

#include "vgpu/core/session.h"

/*
 * A box of bytes; height and depth are 1 for a plain copy. Errors are CUDA's: INVALID_VALUE if rows or layers overlap,
 * or if a side begins in memory that CUDA knows and ends beyond it. Nothing is written then.
 */
struct plim_copy {
    void *to;
    const void *from;
    size_t width, height, depth;
    size_t to_pitch, from_pitch; /* from row to row */
    size_t to_slice, from_slice; /* from layer to layer */
};

enum plim_copy_kind { PLIM_COPY_HOST, PLIM_COPY_TO_DEVICE, PLIM_COPY_TO_HOST, PLIM_COPY_ON_DEVICE, PLIM_COPY_ANY };

/*
 * kind: as the program gives it; INVALID_VALUE if the addresses contradict it. If the stream captures, the bytes move
 * at the launches of the graph.
 */
PLIM_VGPU_EXPORT int plim_vgpu_copy_box(const struct plim_copy *copy, enum plim_copy_kind kind, void *stream);
PLIM_VGPU_EXPORT int plim_vgpu_copy(void *to, const void *from, size_t size, enum plim_copy_kind kind, void *stream);

/* The same shape: rows of count values of width bytes (1, 2, 4 or 8). */
struct plim_fill {
    void *to;
    uint64_t value;
    unsigned width;
    size_t count, height, depth;
    size_t pitch, slice;
};
PLIM_VGPU_EXPORT int plim_vgpu_fill(const struct plim_fill *fill, void *stream);

/* A word of a stream's memory operation: 4 or 8 bytes. Of other memory than the cards' nothing is written. */
int plim_values_write_word(void *to, uint64_t value, unsigned width, void *stream);

/* From layer to layer of a box, and an address in it; SIZE_MAX and NULL: the sizes overflow, which is an error. */
PLIM_VGPU_EXPORT size_t plim_vgpu_slice(size_t pitch, size_t height);
PLIM_VGPU_EXPORT void *plim_vgpu_within(void *start, size_t pitch, size_t height, size_t x, size_t y, size_t z);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_VALUES_SHADOW_H
#define PLIMSOLL_VGPU_VALUES_SHADOW_H

/*
 * What is known of device memory. There is no memory behind device addresses, but each byte has a value and a
 * certainty. Memory that nobody wrote is the constant zero, unknown. So an unknown value can be computed with like any
 * other; only what comes of it stays unknown. The store holds extents: bytes as they were written, or one element that
 * repeats, which takes no room whatever its length.
 *
 * Thread safe. The store is bounded: the bytes that were not read for longest become unknown first.
 */

#include "vgpu/core/session.h"

/* The certainty of a value, the least first. */
enum plim_shadow_known {
    PLIM_SHADOW_UNKNOWN, /* a guess: zero, or computed from guesses */
    PLIM_SHADOW_KEPT,    /* it was written, but a kernel that nobody knows may have overwritten it */
    PLIM_SHADOW_KNOWN    /* written by the host, or computed from known values */
};

enum {
    PLIM_SHADOW_BUFFER_BYTES = 32 << 20, /* a larger write is not kept: its destination becomes unknown */
    PLIM_SHADOW_STORE_BYTES = 256 << 20,
    PLIM_SHADOW_MAX_WIDTH = 16 /* of a constant's element, in bytes */
};

/* Write `size` bytes of one certainty. Bytes that are all equal are stored as a constant. */
PLIM_VGPU_EXPORT void plim_shadow_write(void *to, const void *from, size_t size, enum plim_shadow_known known);

/* Write count elements of `width` bytes (1 to 16, a power of two), all equal to *value. */
PLIM_VGPU_EXPORT void plim_shadow_fill(void *to, const void *value, unsigned width, size_t count,
                                       enum plim_shadow_known known);

/* The memory was overwritten with values that nobody knows. */
PLIM_VGPU_EXPORT void plim_shadow_forget(const void *start, size_t size);

/*
 * Memory that another process, or another address, may write as well: what is written here is never more than KEPT.
 * What is written there stays unknown here.
 */
PLIM_VGPU_EXPORT void plim_shadow_share(const void *start, size_t size);

/* The memory was freed: forget it, and that it is shared. */
PLIM_VGPU_EXPORT void plim_shadow_release(const void *start, size_t size);

/*
 * A kernel that nobody knows got this pointer. What may be one piece from here on keeps its value, but is no longer
 * known. A piece ends where another begins: at a write to a multiple of 512, where PyTorch's blocks start, unless it
 * was made into the middle of an older extent.
 */
PLIM_VGPU_EXPORT void plim_shadow_doubt(const void *start);

/* The same for all that lies in a range, however many pieces it was written in. */
PLIM_VGPU_EXPORT void plim_shadow_doubt_range(const void *start, size_t size);

/* The same for a kernel of which even the pointers are not known: everything. */
PLIM_VGPU_EXPORT void plim_shadow_doubt_all(void);

/* The same for a pointer through which it writes: the piece becomes unknown. */
PLIM_VGPU_EXPORT void plim_shadow_lose(const void *start);

/* These bytes are one piece, as several writes made it. */
PLIM_VGPU_EXPORT void plim_shadow_join(const void *start, size_t size);

/* The values, and the least certainty of them. */
PLIM_VGPU_EXPORT enum plim_shadow_known plim_shadow_read(void *to, const void *from, size_t size);

/* The same, with an enum plim_shadow_known for each byte. */
PLIM_VGPU_EXPORT void plim_shadow_read_each(void *to, uint8_t *ret_known, const void *from, size_t size);

/*
 * Whether all elements of `width` bytes in the range are equal and of one certainty, by what is stored as constants: a
 * range of bytes is not compared. *ret_value has the element.
 */
PLIM_VGPU_EXPORT bool plim_shadow_constant(const void *from, size_t size, unsigned width, void *ret_value,
                                           enum plim_shadow_known *ret_known);

/* A copy within device memory, which may overlap: values, constants and certainties move along. */
PLIM_VGPU_EXPORT void plim_shadow_move(void *to, const void *from, size_t size);

/* The least certainty of a range. */
PLIM_VGPU_EXPORT enum plim_shadow_known plim_shadow_certainty(const void *from, size_t size);

/* The number of extents that became unknown because the store was full. */
PLIM_VGPU_EXPORT uint64_t plim_shadow_n_evicted(void);

#endif

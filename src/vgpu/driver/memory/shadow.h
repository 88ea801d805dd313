/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_SHADOW_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_SHADOW_H

/*
 * Values of device memory. The card has no memory behind its addresses, but small values that the host wrote are kept,
 * byte by byte, so that they survive a round trip: sizes, indices, seeds. What nobody wrote is zero and not known.
 *
 * A launch does not say what it writes. So a value of the host stays until the host overwrites it or the memory is
 * freed: a program that reads back what a kernel computed in its place sees the host's value.
 *
 * Thread safe. The store is bounded: the values that were written longest ago go first, and are counted.
 */

#include "vgpu/core/session.h"

/* One copy or fill beyond this is not kept, and what was known of its destination is forgotten. */
enum { PLIM_SHADOW_COPY_BYTES = 64 << 10, PLIM_SHADOW_STORE_BYTES = 32 << 20 };

PLIM_VGPU_EXPORT void plim_shadow_write(void *to, const void *from, size_t size);

/* What a kernel computed from numbers that nobody knows: it is read, and is as unknown as they. */
PLIM_VGPU_EXPORT void plim_shadow_assume(void *to, const void *from, size_t size);

/* What is known or assumed, and zero for the rest. */
enum plim_shadow_known {
    PLIM_SHADOW_UNKNOWN, /* not all of it was written by the host */
    PLIM_SHADOW_KEPT,    /* it was, but kernels ran since, and may have changed it on a real card */
    PLIM_SHADOW_KNOWN
};
PLIM_VGPU_EXPORT enum plim_shadow_known plim_shadow_read(void *to, const void *from, size_t size);

/* The same, and for each byte by itself how it is known (enum plim_shadow_known). */
PLIM_VGPU_EXPORT void plim_shadow_read_each(void *to, uint8_t *ret_known, const void *from, size_t size);

/* Within device memory. What is unknown there is unknown here. */
PLIM_VGPU_EXPORT void plim_shadow_move(void *to, const void *from, size_t size);

/* count times a value of width bytes (1, 2 or 4). */
PLIM_VGPU_EXPORT void plim_shadow_fill(void *to, uint32_t value, unsigned width, size_t count);

/* Freed, or overwritten by something that is not kept. */
PLIM_VGPU_EXPORT void plim_shadow_forget(const void *start, size_t size);

/* A kernel ran. */
PLIM_VGPU_EXPORT void plim_shadow_launched(void);

/* Pages that had to go because there were too many. */
PLIM_VGPU_EXPORT uint64_t plim_shadow_n_evicted(void);

#endif

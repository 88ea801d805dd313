/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_SHADOW_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_SHADOW_H

/*
 * Values of device memory. There is no memory behind device addresses, but small values that the host wrote (sizes,
 * indices, seeds) are kept, byte by byte, so that they survive a round trip. Bytes that were never written are zero and
 * unknown.
 *
 * A launch does not tell what it writes. So the host's value stays until the host overwrites it or the memory is freed:
 * a program that reads back a kernel's result from there sees the host's value.
 *
 * Thread safe. The store is bounded: the oldest values are evicted first, and counted.
 */

#include "vgpu/core/session.h"

/* A larger copy or fill is not kept, and its destination becomes unknown. */
enum { PLIM_SHADOW_COPY_BYTES = 64 << 10, PLIM_SHADOW_STORE_BYTES = 32 << 20 };

PLIM_VGPU_EXPORT void plim_shadow_write(void *to, const void *from, size_t size);

/* A result computed from unknown values: it is read back, but counts as unknown. */
PLIM_VGPU_EXPORT void plim_shadow_assume(void *to, const void *from, size_t size);

/* Known or assumed values, zero for the rest. */
enum plim_shadow_known {
    PLIM_SHADOW_UNKNOWN, /* not all of it was written by the host */
    PLIM_SHADOW_KEPT,    /* it was, but kernels that ran since may have changed it on a real card */
    PLIM_SHADOW_KNOWN
};
PLIM_VGPU_EXPORT enum plim_shadow_known plim_shadow_read(void *to, const void *from, size_t size);

/* The same, with an enum plim_shadow_known for each byte. */
PLIM_VGPU_EXPORT void plim_shadow_read_each(void *to, uint8_t *ret_known, const void *from, size_t size);

/* A copy within device memory; unknown bytes stay unknown. */
PLIM_VGPU_EXPORT void plim_shadow_move(void *to, const void *from, size_t size);

/* count times a value of width bytes (1, 2 or 4). */
PLIM_VGPU_EXPORT void plim_shadow_fill(void *to, uint32_t value, unsigned width, size_t count);

/* The memory was freed, or overwritten with values that are not kept. */
PLIM_VGPU_EXPORT void plim_shadow_forget(const void *start, size_t size);

/* A kernel ran. */
PLIM_VGPU_EXPORT void plim_shadow_launched(void);

/* The number of evicted pages. */
PLIM_VGPU_EXPORT uint64_t plim_shadow_n_evicted(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_HOST_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_HOST_H

/* Host memory that CUDA knows: pinned, registered or managed. */

#include "vgpu/core/session.h"

PLIM_VGPU_EXPORT int plim_vgpu_host_alloc(void **ret_pointer, uint64_t size);
PLIM_VGPU_EXPORT int plim_vgpu_host_register(void *pointer, uint64_t size);
PLIM_VGPU_EXPORT int plim_vgpu_host_free(void *pointer, bool is_registered);
PLIM_VGPU_EXPORT int plim_vgpu_managed_alloc(void **ret_pointer, uint64_t size, int device);
PLIM_VGPU_EXPORT bool plim_vgpu_managed_free(void *pointer);

/*
 * More is refused: no machine has so much to lock or to move. Linux on x86-64 with four levels of page tables maps at
 * most 64 TiB of physical memory (Documentation/arch/x86/x86_64/mm.rst). The memory of this machine is no bound: a
 * rehearsal may stand for a larger machine.
 */
#define PLIM_HOST_MOST_BYTES ((uint64_t)64 << 40)

/* PLIM_KIND_PINNED or PLIM_KIND_MANAGED; PLIM_KIND_MAX_ for any other address. */
PLIM_VGPU_EXPORT enum plim_ledger_kind plim_vgpu_host_kind(const void *pointer);

/* The same, and the region that the address is in. */
PLIM_VGPU_EXPORT enum plim_ledger_kind plim_vgpu_host_range(const void *pointer, uint64_t *ret_base,
                                                            uint64_t *ret_size);

/*
 * False: size bytes from pointer begin in memory that CUDA knows and end beyond it. The end of any other memory of the
 * host is unknown. Registrations that follow each other count as one, allocations do not.
 */
PLIM_VGPU_EXPORT bool plim_vgpu_host_holds(const void *pointer, uint64_t size, enum plim_ledger_kind *ret_kind);

#endif

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

/* PLIM_KIND_PINNED or PLIM_KIND_MANAGED; PLIM_KIND_MAX_ for any other address. */
PLIM_VGPU_EXPORT enum plim_ledger_kind plim_vgpu_host_kind(const void *pointer);

/* The same, and the region that the address is in. */
PLIM_VGPU_EXPORT enum plim_ledger_kind plim_vgpu_host_range(const void *pointer, uint64_t *ret_base,
                                                            uint64_t *ret_size);

#endif

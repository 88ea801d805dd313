/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_MEMORY_H
#define PLIMSOLL_VGPU_MEMORY_H

/* Device memory of this process: allocations, and the reserve/create/map calls. Errors are CUDA's. */

#include "vgpu/session.h"

int plim_memory_alloc(int device, uint64_t size, uint64_t *ret_address);

/* Only what plim_memory_alloc() gave, by its first address. */
int plim_memory_free(uint64_t address);

/* The allocation or mapping that holds address. */
int plim_memory_range(uint64_t address, uint64_t *ret_base, uint64_t *ret_size);

int plim_memory_reserve(uint64_t size, uint64_t *ret_address);
int plim_memory_unreserve(uint64_t address, uint64_t size);
int plim_memory_create(int device, uint64_t size, uint64_t *ret_handle);
int plim_memory_release(uint64_t handle);
int plim_memory_map(uint64_t address, uint64_t size, uint64_t handle);
int plim_memory_unmap(uint64_t address, uint64_t size);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_DEVICE_MEMORY_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_DEVICE_MEMORY_H

/* Device memory of this process: allocations, pieces of pools, and the reserve/create/map calls. Errors are CUDA's. */

#include "vgpu/core/session.h"

enum plim_device_memory_kind {
    PLIM_DEVICE_MEMORY_ALLOC,  /* cuMemAlloc */
    PLIM_DEVICE_MEMORY_MAPPED, /* cuMemMap */
    PLIM_DEVICE_MEMORY_POOL,   /* cuMemAllocAsync */
    PLIM_DEVICE_MEMORY_IPC,    /* of another process: not charged here */
};

/* What stands at an address. */
struct plim_device_memory {
    uint64_t base, size;
    enum plim_device_memory_kind kind;
    int device;
    uint64_t handle; /* what is mapped */
    void *pool;
    uint64_t id; /* never given twice in a process */
};

int plim_device_memory_at(uint64_t address, struct plim_device_memory *ret_memory);

int plim_device_memory_alloc(int device, uint64_t size, uint64_t *ret_address);

/* Only what plim_device_memory_alloc() gave, by its first address. */
int plim_device_memory_free(uint64_t address);

/* Address space for something that is charged elsewhere, or not: a piece of a pool, memory of another process. */
int plim_device_memory_place(enum plim_device_memory_kind kind, int device, uint64_t size, void *pool,
                             uint64_t *ret_address);

/* Gives it back, by its first address; *ret_memory is what it was. */
int plim_device_memory_unplace(enum plim_device_memory_kind kind, uint64_t address,
                               struct plim_device_memory *ret_memory);

int plim_device_memory_reserve(uint64_t size, uint64_t *ret_address);
int plim_device_memory_unreserve(uint64_t address, uint64_t size);

/* share: allowed ways to give it to another process (CUmemAllocationHandleType). */
int plim_device_memory_create(int device, uint64_t size, unsigned share, uint64_t *ret_handle);
/* A handle for memory of another process. */
int plim_device_memory_adopt(int device, uint64_t size, uint64_t *ret_handle);
int plim_device_memory_retain(uint64_t handle);
int plim_device_memory_release(uint64_t handle);
int plim_device_memory_map(uint64_t address, uint64_t size, uint64_t handle);
int plim_device_memory_unmap(uint64_t address, uint64_t size);

struct plim_device_memory_handle {
    int device;
    uint64_t size;
    unsigned share;
};
int plim_device_memory_handle_at(uint64_t handle, struct plim_device_memory_handle *ret_handle);

/* cuMemSetAccess and its question: 0 none, 1 read, 3 read and write, for each device. */
int plim_device_memory_set_access(uint64_t address, uint64_t size, int device, unsigned access);
int plim_device_memory_get_access(uint64_t address, int device, unsigned *ret_access);

#endif

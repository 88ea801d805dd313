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

/* The allocation or mapping at an address. */
struct plim_device_memory {
    uint64_t base, size;
    enum plim_device_memory_kind kind;
    int device;
    uint64_t handle; /* of a mapping: the handle */
    void *pool;
    uint64_t id; /* never given twice in a process */
};

int plim_device_memory_at(uint64_t address, struct plim_device_memory *ret_memory);

/* All of a range, to the slot, is one allocation or one block, or mappings that follow each other. */
bool plim_device_memory_holds(uint64_t address, uint64_t size);

int plim_device_memory_alloc(int device, uint64_t size, uint64_t *ret_address);

/* Free an allocation of plim_device_memory_alloc() by its first address. */
int plim_device_memory_free(uint64_t address);

/* Address space for memory that is charged elsewhere: a piece of a pool, memory of another process. */
int plim_device_memory_place(enum plim_device_memory_kind kind, int device, uint64_t size, void *pool,
                             uint64_t *ret_address);

/* Free it by its first address; *ret_memory describes it. */
int plim_device_memory_unplace(enum plim_device_memory_kind kind, uint64_t address,
                               struct plim_device_memory *ret_memory);

/* The first address of the next one of a kind on a device, from number *at on, which is moved on; 0: no more. */
uint64_t plim_device_memory_next(enum plim_device_memory_kind kind, int device, uint32_t *at);

int plim_device_memory_reserve(uint64_t size, uint64_t *ret_address);
int plim_device_memory_unreserve(uint64_t address, uint64_t size);

/* share: the ways in which it may be shared with another process (CUmemAllocationHandleType). */
int plim_device_memory_create(int device, uint64_t size, unsigned share, uint64_t *ret_handle);
/* A handle for memory of another process. */
int plim_device_memory_adopt(int device, uint64_t size, uint64_t *ret_handle);
int plim_device_memory_retain(uint64_t handle);
int plim_device_memory_release(uint64_t handle);
/* Another process gets this memory, or gave it. */
void plim_device_memory_share(uint64_t handle);
int plim_device_memory_map(uint64_t address, uint64_t size, uint64_t handle);
int plim_device_memory_unmap(uint64_t address, uint64_t size);

struct plim_device_memory_handle {
    int device;
    uint64_t size;
    unsigned share;
};
int plim_device_memory_handle_at(uint64_t handle, struct plim_device_memory_handle *ret_handle);

/* cuMemSetAccess and cuMemGetAccess, per device: 0 no access, 1 read, 3 read and write. */
int plim_device_memory_set_access(uint64_t address, uint64_t size, int device, unsigned access);
int plim_device_memory_get_access(uint64_t address, int device, unsigned *ret_access);

#endif

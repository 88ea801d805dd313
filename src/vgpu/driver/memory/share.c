/* SPDX-License-Identifier: MIT */
/*
 * libcuda: memory for other processes of the rehearsal. The process that made it is charged; here it is address space
 * of the same size. A POSIX handle is a real file descriptor, of a small file in memory that describes the allocation,
 * so that programs can send it through sockets. Values do not cross: what one process writes is unknown to the other,
 * and its own values are no more than kept.
 */
#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/memory/device_memory.h"
#include "vgpu/values/shadow.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The content of a CUipcMemHandle, and of the file behind a POSIX handle. */
struct shared_memory {
    char magic[8];
    int32_t pid, card;
    uint64_t address, size, offset;
    unsigned char rest[24];
};
_Static_assert(sizeof(struct shared_memory) == sizeof(struct cu_ipc_handle), "fills a CUipcMemHandle");

static const char magic_ipc[8] = "plimipc", magic_vmm[8] = "plimvmm";
enum { HANDLE_POSIX = 1 };

static bool is_valid(const struct shared_memory *memory, const char magic[8])
{
    return !memcmp(memory->magic, magic, sizeof memory->magic) && memory->size > 0 &&
           plim_vgpu_device_of(memory->card) >= 0;
}

/* --- memory of cuMemCreate --- */

status cuMemExportToShareableHandle(int *ret_fd, unsigned long long number, int type, unsigned long long flags)
{
    struct plim_device_memory_handle handle;
    if (type != HANDLE_POSIX)
        return PLIM_CUDA_NOT_SUPPORTED;
    if (flags || !ret_fd || plim_device_memory_handle_at(number, &handle) || !(handle.share & HANDLE_POSIX))
        return PLIM_CUDA_INVALID_VALUE;
    struct shared_memory memory = {
        .pid = (int)getpid(), .card = plim_vgpu_card_of(handle.device), .address = number, .size = handle.size
    };
    memcpy(memory.magic, magic_vmm, sizeof memory.magic);
    const int fd = memfd_create("plimsoll-vgpu", MFD_CLOEXEC);
    if (fd < 0)
        return PLIM_CUDA_OUT_OF_MEMORY;
    if (write(fd, &memory, sizeof memory) != (ssize_t)sizeof memory) {
        close(fd);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    *ret_fd = fd;
    plim_device_memory_share(number);
    return PLIM_CUDA_SUCCESS;
}

status cuMemImportFromShareableHandle(unsigned long long *ret_handle, void *os_handle, int type)
{
    struct shared_memory memory;
    uint64_t handle;
    if (type != HANDLE_POSIX)
        return PLIM_CUDA_NOT_SUPPORTED;
    if (!ret_handle || pread((int)(intptr_t)os_handle, &memory, sizeof memory, 0) != (ssize_t)sizeof memory ||
        !is_valid(&memory, magic_vmm))
        return PLIM_CUDA_INVALID_VALUE;
    if (memory.pid == (int)getpid() && !plim_device_memory_retain(memory.address)) {
        *ret_handle = memory.address;
        return PLIM_CUDA_SUCCESS;
    }
    status error = plim_device_memory_adopt(plim_vgpu_device_of(memory.card), memory.size, &handle);
    if (!error) {
        plim_device_memory_share(handle);
        *ret_handle = handle;
    }
    return error;
}

/* --- memory of cuMemAlloc --- */

status cuIpcGetMemHandle(struct cu_ipc_handle *ret_handle, device_pointer address)
{
    struct plim_device_memory memory;
    if (!ret_handle || plim_device_memory_at(address, &memory) || memory.kind != PLIM_DEVICE_MEMORY_ALLOC)
        return PLIM_CUDA_INVALID_VALUE;
    struct shared_memory shared = {
        .pid = (int)getpid(), .card = plim_vgpu_card_of(memory.device), .address = memory.base, .size = memory.size
    };
    memcpy(shared.magic, magic_ipc, sizeof shared.magic);
    memcpy(ret_handle, &shared, sizeof *ret_handle);
    plim_shadow_share((const void *)(uintptr_t)memory.base, memory.size);
    return PLIM_CUDA_SUCCESS;
}

/* An error in the process that made it (driver API reference). */
status cuIpcOpenMemHandle_v2(device_pointer *ret_address, struct cu_ipc_handle handle, unsigned flags)
{
    struct shared_memory memory;
    uint64_t address;
    (void)flags;
    status error = plim_context_need();
    if (error)
        return error;
    memcpy(&memory, &handle, sizeof memory);
    if (!ret_address || !is_valid(&memory, magic_ipc))
        return PLIM_CUDA_INVALID_VALUE;
    if (memory.pid == (int)getpid())
        return PLIM_CUDA_INVALID_CONTEXT;
    error =
        plim_device_memory_place(PLIM_DEVICE_MEMORY_IPC, plim_vgpu_device_of(memory.card), memory.size, NULL, &address);
    if (!error) {
        plim_shadow_share((const void *)(uintptr_t)address, memory.size);
        *ret_address = address;
    }
    return error;
}

status cuIpcCloseMemHandle(device_pointer address)
{
    struct plim_device_memory memory;
    return plim_device_memory_unplace(PLIM_DEVICE_MEMORY_IPC, address, &memory);
}

/* SPDX-License-Identifier: MIT */
/*
 * libcuda: memory for other processes of the rehearsal. The process that made it pays; here it is only address space of
 * the same size. A POSIX handle is a real file descriptor (of a small file in memory that says what it stands for), so
 * that programs can send it through sockets.
 */
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a handle says: CUipcMemHandle, and the file behind a POSIX handle. */
struct token {
    char magic[8];
    int32_t pid, card;
    uint64_t address, size, offset;
    unsigned char rest[24];
};
_Static_assert(sizeof(struct token) == 64, "CUipcMemHandle");

static const char magic_ipc[8] = "plimipc", magic_vmm[8] = "plimvmm";
enum { HANDLE_POSIX = 1 };

static bool is_token(const struct token *token, const char magic[8])
{
    return !memcmp(token->magic, magic, sizeof token->magic) && token->size > 0 &&
           plim_vgpu_device_of(token->card) >= 0;
}

/* --- cuMemCreate's --- */

status cuMemExportToShareableHandle(int *ret_fd, unsigned long long number, int type, unsigned long long flags)
{
    struct plim_vgpu_memory_handle handle;
    if (type != HANDLE_POSIX)
        return PLIM_CUDA_NOT_SUPPORTED;
    if (flags || !ret_fd || plim_vgpu_memory_handle_at(number, &handle) || !(handle.share & HANDLE_POSIX))
        return PLIM_CUDA_INVALID_VALUE;
    struct token token = {
        .pid = (int)getpid(), .card = plim_vgpu_card_of(handle.device), .address = number, .size = handle.size
    };
    memcpy(token.magic, magic_vmm, sizeof token.magic);
    const int fd = memfd_create("plimsoll-vgpu", MFD_CLOEXEC);
    if (fd < 0)
        return PLIM_CUDA_OUT_OF_MEMORY;
    if (write(fd, &token, sizeof token) != (ssize_t)sizeof token) {
        close(fd);
        return PLIM_CUDA_OUT_OF_MEMORY;
    }
    *ret_fd = fd;
    return PLIM_CUDA_SUCCESS;
}

status cuMemImportFromShareableHandle(unsigned long long *ret_handle, void *os_handle, int type)
{
    struct token token;
    uint64_t handle;
    if (type != HANDLE_POSIX)
        return PLIM_CUDA_NOT_SUPPORTED;
    if (!ret_handle || pread((int)(intptr_t)os_handle, &token, sizeof token, 0) != (ssize_t)sizeof token ||
        !is_token(&token, magic_vmm))
        return PLIM_CUDA_INVALID_VALUE;
    if (token.pid == (int)getpid() && !plim_vgpu_memory_retain(token.address)) {
        *ret_handle = token.address;
        return PLIM_CUDA_SUCCESS;
    }
    status error = plim_vgpu_memory_adopt(plim_vgpu_device_of(token.card), token.size, &handle);
    if (!error)
        *ret_handle = handle;
    return error;
}

/* --- cuMemAlloc's --- */

status cuIpcGetMemHandle(struct token *ret_token, unsigned long long address)
{
    struct plim_vgpu_memory memory;
    if (!ret_token || plim_vgpu_memory_at(address, &memory) || memory.kind != PLIM_VGPU_MEMORY_ALLOC)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_token = (struct token){
        .pid = (int)getpid(), .card = plim_vgpu_card_of(memory.device), .address = memory.base, .size = memory.size
    };
    memcpy(ret_token->magic, magic_ipc, sizeof ret_token->magic);
    return PLIM_CUDA_SUCCESS;
}

/* Not in the process that made it (driver API reference). */
status cuIpcOpenMemHandle_v2(unsigned long long *ret_address, struct token token, unsigned flags)
{
    uint64_t address;
    (void)flags;
    status error = plim_context_need();
    if (error)
        return error;
    if (!ret_address || !is_token(&token, magic_ipc))
        return PLIM_CUDA_INVALID_VALUE;
    if (token.pid == (int)getpid())
        return PLIM_CUDA_INVALID_CONTEXT;
    error = plim_vgpu_memory_place(PLIM_VGPU_MEMORY_IPC, plim_vgpu_device_of(token.card), token.size, NULL, &address);
    if (!error)
        *ret_address = address;
    return error;
}

status cuIpcCloseMemHandle(unsigned long long address)
{
    struct plim_vgpu_memory memory;
    return plim_vgpu_memory_unplace(PLIM_VGPU_MEMORY_IPC, address, &memory);
}

/* SPDX-License-Identifier: MIT */
/* libnvshmem_host: there are no peers to share memory with. Functions that return an address return NULL. */
#include "vgpu/libs/library.h"
#include "vgpu/libs/nvshmem_api.h"

#define NO_ADDRESS(name)                                                                                               \
    void *name(void)                                                                                                   \
    {                                                                                                                  \
        plim_vgpu_unsupported(#name, __builtin_return_address(0));                                                     \
        return NULL;                                                                                                   \
    }

NO_ADDRESS(nvshmem_malloc)
NO_ADDRESS(nvshmem_calloc)
NO_ADDRESS(nvshmem_align)
NO_ADDRESS(nvshmem_ptr)
NO_ADDRESS(nvshmemx_mc_ptr)

/* 0: not initialized. */
int nvshmemid_init_status(void) { return 0; }

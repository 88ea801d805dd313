/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_NVSHMEM_API_H
#define PLIMSOLL_VGPU_LIBS_NVSHMEM_API_H

/* The functions of the NVSHMEM API that have a body in libnvshmem_host.so.3. Their parameters are not read. */

void *nvshmem_malloc(void);
void *nvshmem_calloc(void);
void *nvshmem_align(void);
void *nvshmem_ptr(void);
void *nvshmemx_mc_ptr(void);
int nvshmemid_init_status(void);

#endif

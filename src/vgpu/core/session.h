/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_SESSION_H
#define PLIMSOLL_VGPU_CORE_SESSION_H

/*
 * This process in the rehearsal: the ledger it writes to, the cards it may see, what it holds. It lives in libcuda.so.1
 * and is what the other virtual libraries share; the runtime reaches memory through the public driver functions.
 */

#include "vgpu/core/errors.h"
#include "vgpu/core/ledger.h"

/* The ledger, joined on the first call; NULL with *ret_error set: no cards, or a child forked after the first call. */
PLIM_VGPU_EXPORT struct plim_ledger *plim_vgpu_ledger(int *ret_error);

/* What the ledger has of this process; NULL as above. */
PLIM_VGPU_EXPORT struct plim_ledger_process *plim_vgpu_process(void);

/* How many cards this process sees (CUDA_VISIBLE_DEVICES), and which of the ledger's the i-th is; NULL: none. */
PLIM_VGPU_EXPORT int plim_vgpu_n_cards(void);
PLIM_VGPU_EXPORT struct plim_ledger_card *plim_vgpu_card(int device);

/* From the number of this process to the ledger's, and back; -1: none. */
PLIM_VGPU_EXPORT int plim_vgpu_card_of(int device);
PLIM_VGPU_EXPORT int plim_vgpu_device_of(int card);

/* Charge what a process needs before its first allocation, or its first kernel, once per card. */
PLIM_VGPU_EXPORT int plim_vgpu_need_context(int device);
PLIM_VGPU_EXPORT int plim_vgpu_need_kernels(int device);

/* Charge for something that has no address the program sees; *ret_record is for plim_vgpu_uncharge(). */
PLIM_VGPU_EXPORT int plim_vgpu_charge(int device, enum plim_ledger_kind kind, uint64_t size, uint32_t *ret_record);
PLIM_VGPU_EXPORT void plim_vgpu_uncharge(uint32_t record);

/* Device address space: for copies, without a lock. */
PLIM_VGPU_EXPORT bool plim_vgpu_is_device(const void *pointer);

/* A function without a body was called from `caller`: said in the receipt, and once on stderr. Returns 801. */
PLIM_VGPU_EXPORT int plim_vgpu_unsupported(const char *function, const void *caller);

/* NVIDIA's own runtime is in the object of `caller`: said in the same way. */
PLIM_VGPU_EXPORT void plim_vgpu_static_runtime(const void *caller);

/* Something else to say in the receipt: kind is a short word, what the same text whenever it is the same. */
PLIM_VGPU_EXPORT void plim_vgpu_remark(const char *kind, const char *what);

/* Microseconds since the rehearsal began. */
PLIM_VGPU_EXPORT uint64_t plim_vgpu_now_us(void);

#endif

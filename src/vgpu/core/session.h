/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_SESSION_H
#define PLIMSOLL_VGPU_CORE_SESSION_H

/*
 * This process in the rehearsal: its ledger, the cards that it may see, its charges. The session lives in libcuda.so.1
 * and is shared by the other virtual libraries; the runtime reaches memory through the public driver functions.
 */

#include "vgpu/core/errors.h"
#include "vgpu/core/ledger.h"

/*
 * The ledger, joined on the first call; NULL with *ret_error set: no cards, or the child of a fork after the first
 * call.
 */
PLIM_VGPU_EXPORT struct plim_ledger *plim_vgpu_ledger(int *ret_error);

/* The entry of this process in the ledger; NULL as above. */
PLIM_VGPU_EXPORT struct plim_ledger_process *plim_vgpu_process(void);

/*
 * The number of cards that this process sees (CUDA_VISIBLE_DEVICES), and the ledger's card behind a device number, or
 * NULL.
 */
PLIM_VGPU_EXPORT int plim_vgpu_n_cards(void);
PLIM_VGPU_EXPORT struct plim_ledger_card *plim_vgpu_card(int device);

/* Bytes that this process can still get on a device: processes that have ended hold none. */
PLIM_VGPU_EXPORT uint64_t plim_vgpu_free_bytes(int device);

/* From the device number of this process to the ledger's card number, and back; -1: no such card. */
PLIM_VGPU_EXPORT int plim_vgpu_card_of(int device);
PLIM_VGPU_EXPORT int plim_vgpu_device_of(int card);

/* Charge the context before the first allocation, the kernels before the first launch: once per card. */
PLIM_VGPU_EXPORT int plim_vgpu_need_context(int device);
PLIM_VGPU_EXPORT int plim_vgpu_need_kernels(int device);

/* Both are given back, until they are needed again. */
PLIM_VGPU_EXPORT void plim_vgpu_drop_context(int device);

/* Charge memory that has no address in the program; *ret_record is for plim_vgpu_uncharge(). */
PLIM_VGPU_EXPORT int plim_vgpu_charge(int device, enum plim_ledger_kind kind, uint64_t size, uint32_t *ret_record);
PLIM_VGPU_EXPORT void plim_vgpu_uncharge(uint32_t record);

/* Device address space: for copies, without a lock. */
PLIM_VGPU_EXPORT bool plim_vgpu_is_device(const void *pointer);

/* A function without a body was called from `caller`: the receipt says so, and stderr once. Returns 801. */
PLIM_VGPU_EXPORT int plim_vgpu_unsupported(const char *function, const void *caller);

/* A remark for the receipt: kind is a short word; remarks with equal kind and text are counted as one. */
PLIM_VGPU_EXPORT void plim_vgpu_remark(const char *kind, const char *what);

/* Microseconds since the rehearsal began. */
PLIM_VGPU_EXPORT uint64_t plim_vgpu_now_us(void);

/*
 * The time of events. Work takes no time on a virtual card; work that a program shall not prefer when it measures takes
 * a second, which no delay of this machine hides.
 */
PLIM_VGPU_EXPORT uint64_t plim_vgpu_event_time_us(void);
PLIM_VGPU_EXPORT void plim_vgpu_note_slow_work(void);

#endif

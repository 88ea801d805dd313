/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_LIBRARY_H
#define PLIMSOLL_VGPU_LIBS_LIBRARY_H

/*
 * What the stand-ins for NVIDIA's math libraries share: handles, what they take of the card, and work that computes
 * nothing. Each library has a copy of its own. The declarations of the libraries' functions are our own, after their
 * manuals; types are replaced by what the ABI sees of them.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/session.h"
#include "vgpu/core/slots.h"

/* A handle (core/slots.h) and its body: size bytes, zeros at first. NULL: no memory. */
void *plim_handle_make(int type, size_t size, void **ret_body);

/* The body of a handle of this type, or NULL. */
void *plim_handle_body(const void *handle, int type);

void plim_handle_drop(void *handle);

/* The current device of the thread, with a context. Negative: there is none, or no room for its context. */
int plim_library_device(void);

/* What a handle takes of a card; 0 bytes are nothing. */
struct plim_library_charge {
    uint32_t record;
    bool is_held;
};
bool plim_library_charge(struct plim_library_charge *charge, int device, enum plim_ledger_kind kind, uint64_t size);
void plim_library_uncharge(struct plim_library_charge *charge);

/* A library puts a kernel into a stream. False: there is no room for its code, or nothing may be put there now. */
bool plim_library_work(int device, void *stream);

/* A result of the card is given to the host at once: zero, and said in the receipt. */
void plim_library_answer(void *result, size_t size);

#endif

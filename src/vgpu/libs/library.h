/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_LIBRARY_H
#define PLIMSOLL_VGPU_LIBS_LIBRARY_H

/*
 * Shared by the virtual math libraries: handles, the memory that they take on a card, and work that computes nothing.
 * Each library has its own copy of library.c.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/session.h"
#include "vgpu/core/slots.h"
#include "vgpu/libs/words.h"

/* A handle (core/slots.h) and its body: size bytes, zeros at first. NULL: no memory. */
void *plim_handle_make(int type, size_t size, void **ret_body);

/* The body of a handle of this type, or NULL. */
void *plim_handle_body(const void *handle, int type);

void plim_handle_drop(void *handle);

/* The current device of the thread, with a context. Negative: no device, or no memory for its context. */
int plim_library_device(void);

/* The memory that a handle takes on a card. */
struct plim_library_charge {
    uint32_t record;
    bool is_held;
};
bool plim_library_charge(struct plim_library_charge *charge, int device, enum plim_ledger_kind kind, uint64_t size);
void plim_library_uncharge(struct plim_library_charge *charge);

/* Put a kernel into a stream. False: no memory for its code, or the stream must not take work now. */
bool plim_library_work(int device, void *stream);

/*
 * The same for work whose result is told by run(context), which gets a copy of `size` bytes (at most 256) of the
 * context: now, or at each launch of the graph that captures the stream.
 */
bool plim_library_compute(int device, void *stream, void (*run)(const void *context), const void *context, size_t size);

/* The same for a function whose words may lead to what it writes: that is forgotten. */
bool plim_library_write(int device, void *stream, const uintptr_t words[PLIM_N_WORDS]);

/* The same for work that writes to one address, or to two; NULL: to none. */
bool plim_library_write_to(int device, void *stream, const void *first, const void *second);

/* Return a result to the host at once: zero, and the receipt says so. */
void plim_library_answer(void *result, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_CALLSITE_H
#define PLIMSOLL_VGPU_CORE_CALLSITE_H

/*
 * The call site of an allocation: the stack of the calling thread, native and, in a Python program, of the interpreter.
 * Each stack is entered into the ledger once. Taking one costs a few microseconds; once that adds up to more than a
 * share of the run time, requests from the same function at the same depth count as one call site.
 */

#include "vgpu/core/ledger.h"

/* The number of the call site in the ledger; 0: unknown. */
uint32_t plim_callsite_here(struct plim_ledger *ledger, uint32_t device, enum plim_ledger_kind kind);

/* The functions of a native stack, "library function", a line for each frame, the innermost first. */
int plim_callsite_frames(void **ret_frames, int most);
void plim_callsite_text(void *const *frames, int n, char *ret_text, size_t size);

/* 64 bits of two hashes, well mixed. */
uint64_t plim_callsite_mixed(uint64_t hash, uint64_t value);

#endif

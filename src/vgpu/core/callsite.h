/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_CALLSITE_H
#define PLIMSOLL_VGPU_CORE_CALLSITE_H

/*
 * Who asks for memory: the stack of the calling thread, native and, in a Python program, of the interpreter, entered
 * into the ledger once. Costs a few microseconds; where that adds up to more than a share of the time, requests from
 * the same function and depth are taken for the same site.
 */

#include "vgpu/core/ledger.h"

/* The number of the site; 0 when it cannot be told. */
uint32_t plim_callsite_here(struct plim_ledger *ledger, uint32_t device, enum plim_ledger_kind kind);

/* --- of the interpreter (site_python.c) --- */

/* When this process is a Python program: arrange, at its next safe moment, what the two below need. */
void plim_python_watch(struct plim_ledger *ledger, struct plim_ledger_process *process);

/* "file:line function", a line for each frame of this thread, the innermost first; empty when it runs no Python. */
void plim_python_stack(char *ret_text, size_t size);

#endif

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

/* --- the interpreter's part (callsite_python.c) --- */

/*
 * In a Python program: prepare, at the interpreter's next safe point, for plim_python_stack() and for counting
 * optimizer steps.
 */
void plim_python_watch(struct plim_ledger *ledger, struct plim_ledger_process *process);

/* "file:line function", a line for each frame of this thread, the innermost first; empty when it runs no Python. */
void plim_python_stack(char *ret_text, size_t size);

#endif

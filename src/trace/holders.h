/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_HOLDERS_H
#define PLIMSOLL_TRACE_HOLDERS_H

/* Who holds memory at a moment of a trace, by lines of the program. */

#include "trace/analysis.h"

/* Before the event `at`, or after the last: what is held then, as events tell it. */
PLIM_MUST_CHECK int plim_trace_holders_find(const struct plim_memory_trace *trace, size_t device,
                                            const struct plim_trace_requests *requests, size_t at,
                                            struct plim_trace_holders *ret_holders, struct plim_error *reterr);

/* The same, of every line; the caller frees the sites. */
PLIM_MUST_CHECK int plim_trace_sites_find(const struct plim_memory_trace *trace, size_t device,
                                          const struct plim_trace_requests *requests, size_t at,
                                          struct plim_trace_site **ret_sites, size_t *ret_n, struct plim_error *reterr);

/*
 * The frame that stands for a stack: the innermost of Python that is not PyTorch's own, else the innermost of
 * Python, else the node of autograd or the operator in C++.
 * PLIM_TRACE_NO_STACK for a stack without frames.
 */
uint32_t plim_trace_frame_of(const struct plim_memory_trace *trace, uint32_t stack);
/* Of Python; else of C++, whose lines are addresses. */
bool plim_trace_frame_is_python(const struct plim_memory_trace *trace, uint32_t frame);
/* The next frame outwards that is of Python and not PyTorch's own; PLIM_TRACE_NO_STACK: there is none. */
uint32_t plim_trace_caller_of(const struct plim_memory_trace *trace, uint32_t stack);

/* The stack of an allocation; PLIM_TRACE_NO_STACK: none is known. */
uint32_t plim_trace_stack_of(const struct plim_memory_trace *trace, size_t device,
                             const struct plim_trace_requests *requests, uint32_t id);

#endif

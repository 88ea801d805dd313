/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_BACKWARD_H
#define PLIMSOLL_TRACE_BACKWARD_H

/*
 * Whose a request without a stack is. Autograd's threads have no Python: what they take comes between a request below
 * backward() or grad(), which makes the first gradient, and the next one of the thread that waits there.
 */

#include "trace/requests.h"

/*
 * For each id: the stack of its request, or that of the backward pass that it is of; PLIM_TRACE_NO_STACK: none.
 * False: out of memory.
 */
PLIM_MUST_CHECK bool plim_trace_backward_stacks(const struct plim_memory_trace *trace, size_t device,
                                                const struct plim_trace_requests *requests, uint32_t *stacks);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_STEP_TOLD_H
#define PLIMSOLL_TRACE_STEP_TOLD_H

/*
 * What memory is for, as far as a snapshot without marks tells: by the innermost function of a stack that is known, and
 * for what the backward pass takes by how long it is held. Nothing is told by sizes.
 */

#include "base/error.h"
#include "plimsoll/bill.h"
#include "trace/requests.h"

/* Bytes by pillar; PLIM_PILLAR_MAX_: unknown. */
struct plim_trace_pillars {
    uint64_t bytes[PLIM_PILLAR_MAX_ + 1];
};

/* Of what is held before the event `at`, or after the last. */
PLIM_MUST_CHECK int plim_trace_pillars_find(const struct plim_memory_trace *trace, size_t device,
                                            const struct plim_trace_requests *requests, size_t at,
                                            struct plim_trace_pillars *ret_pillars, struct plim_error *reterr);

/* Of every allocation: its pillar, by its id. */
PLIM_MUST_CHECK int plim_trace_pillars_tell(const struct plim_memory_trace *trace, size_t device,
                                            const struct plim_trace_requests *requests, uint8_t *ret_pillar_of,
                                            struct plim_error *reterr);

#endif

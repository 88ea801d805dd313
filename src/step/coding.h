/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_CODING_H
#define PLIMSOLL_STEP_CODING_H

/* What the reader and the writer of a step's file share (docs/internals/step.md). */

#include "step/step.h"

enum {
    PLIM_STEP_NUMBER_BYTES = 10, /* 64 bits, seven to a byte */
    PLIM_STEP_SUM_BYTES = 8,
    PLIM_STEP_MAX_HEAPS = 1 << 16,          /* streams x pools, as PLIM_TORCH_MAX_HEAPS */
    PLIM_STEP_MAX_HEAPS_OF_SHAPE = 1 << 19, /* of its tracks: a replay of each opens them all */

    /* In the number of a size, below that of its terms. */
    PLIM_STEP_IS_EXACT = 1,
    PLIM_STEP_HAS_ROUNDING = 2,
    PLIM_STEP_SIZE_FLAGS = 4,

    /* In the byte of an event, beside its kind. */
    PLIM_STEP_KIND_BITS = 7,
    PLIM_STEP_OTHER_STREAM = 8, /* than the event before, or 0 */
    PLIM_STEP_OTHER_POOL = 16,

    /* In the byte of a track. */
    PLIM_STEP_STARTS_LATE = 1,
    PLIM_STEP_HAS_RETRIES = 2,
    PLIM_STEP_HAS_RECORDED = 4,

    PLIM_STEP_UNKNOWN_KIND = 15, /* pillar or phase: the number of "unknown" stays when kinds are added */
};

/* A pillar and a phase in one byte. */
static inline uint8_t plim_step_kinds_byte(unsigned pillar, unsigned phase)
{
    const unsigned high = pillar < PLIM_PILLAR_MAX_ ? pillar : PLIM_STEP_UNKNOWN_KIND;
    const unsigned low = phase < PLIM_PHASE_MAX_ ? phase : PLIM_STEP_UNKNOWN_KIND;
    return (uint8_t)(high << 4 | low);
}

/* FNV-1a of 64 bits: one byte that differs is always noticed. */
#define PLIM_STEP_SUM_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t plim_step_sum(uint64_t sum, uint8_t byte) { return (sum ^ byte) * UINT64_C(0x100000001b3); }

#endif

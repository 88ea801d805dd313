/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_TORCH_MOMENT_H
#define PLIMSOLL_ENGINE_TORCH_MOMENT_H

/* A moment of a step: where the program is, and what is held, by whom. */

#include "engine/torch/tape.h"

enum { PLIM_TORCH_MAX_SITES = 16 };

/* What one line of the program holds. */
struct plim_torch_site {
    uint32_t site; /* of the step's sites; PLIM_STEP_NO_SITE: no line is known */
    uint32_t n;    /* allocations */
    uint64_t bytes;
    uint8_t pillar; /* of most of the bytes; PLIM_PILLAR_MAX_: unknown */
    uint8_t phase;  /* in which most were taken; PLIM_PHASE_MAX_: unknown */
};

struct plim_torch_moment {
    size_t event;  /* it is the moment after this one */
    uint32_t step; /* of the marks */
    uint8_t phase; /* enum plim_phase; PLIM_PHASE_MAX_: unknown */
    /* Requested bytes that are held; the last of each is of unknown allocations. */
    uint64_t held_bytes;
    uint32_t n_held;
    uint64_t pillar_bytes[PLIM_PILLAR_MAX_ + 1];
    uint64_t phase_bytes[PLIM_PHASE_MAX_ + 1]; /* by the phase in which they were taken */
    /* The lines that hold most, and all others. */
    struct plim_torch_site sites[PLIM_TORCH_MAX_SITES];
    uint32_t n_sites, n_other_sites;
    uint64_t other_sites_bytes;
};

/* Who holds what after the event `at`. failed: a request that got nothing, SIZE_MAX: none. */
PLIM_MUST_CHECK int plim_torch_moment_at(const struct plim_torch_tape *tape, size_t at, size_t failed,
                                         struct plim_torch_moment *ret_moment, struct plim_error *reterr);

#endif

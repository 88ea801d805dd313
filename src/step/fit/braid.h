/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_BRAID_H
#define PLIMSOLL_STEP_FIT_BRAID_H

/*
 * Recordings whose orders differ a little, as one order: each of them is what remains of it when the allocations that
 * it does not have are left out. PyTorch's reductions, sorts and copies take memory for some sizes only, and a program
 * that is recorded on both sides of such a size does the same but for a few allocations.
 *
 * Allocations are the same when they are taken and given back at the same places between others that are the same, by
 * the same lines, and live about as long.
 */

#include "step/step.h"

#define PLIM_STEP_NO_ALLOCATION UINT32_MAX

struct plim_step_braid {
    struct plim_step_track *tracks; /* events, allocations and marks; sizes are not those of one recording */
    size_t n_tracks;
    size_t n_strands; /* recordings that differ */
    uint32_t ***own;  /* [strand][track][allocation]: that of the strand, or PLIM_STEP_NO_ALLOCATION */
};

enum plim_step_braided { PLIM_STEP_BRAIDED, PLIM_STEP_TOO_DIFFERENT, PLIM_STEP_BRAID_NOMEM };

/*
 * Add the tracks of a recording, the first to an empty braid. The sites of its allocations have the numbers that they
 * have in the braid (sites: [n_sites] from its own). Unless it is BRAIDED the braid stays as it was.
 */
enum plim_step_braided plim_step_braid_add(struct plim_step_braid *braid, const struct plim_step_shape *shape,
                                           const uint32_t *sites, size_t n_sites);
void plim_step_braid_done(struct plim_step_braid *braid);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_VALUES_READS_H
#define PLIMSOLL_VGPU_VALUES_READS_H

/*
 * Reads of device memory by the host. A small one may steer the program: an item, a flag, a number of selected
 * elements. Those that are guesses are counted in the ledger by the place in the program.
 */

#include "vgpu/values/shadow.h"

struct plim_read {
    enum plim_shadow_known known; /* the least certainty of its bytes */
    bool is_answer;               /* a library's result, not a copy */
    size_t size_bytes;
    void *bytes; /* what the program gets; only the first 16 are looked at, and the end of an answer is written there */
};

PLIM_VGPU_EXPORT void plim_values_note_read(const struct plim_read *read);

/* The least certainty of the reads of this thread that may steer since the last call; KNOWN: there was none. */
PLIM_VGPU_EXPORT int plim_values_last_read(void);

/* plim_shadow_certainty() for tests that run in the program: an enum plim_shadow_known. */
PLIM_VGPU_EXPORT int plim_values_known(const void *address, size_t size);

#endif

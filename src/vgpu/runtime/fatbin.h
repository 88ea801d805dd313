/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_FATBIN_H
#define PLIMSOLL_VGPU_RUNTIME_FATBIN_H

/*
 * The code in a fat binary that a card would run: programs choose their algorithms by it, and some have no code for a
 * card.
 */

#include <stdbool.h>
#include <stdint.h>

struct plim_fat {
    const void *wrapper; /* as the compiler's start-up code registered it */
    _Atomic uint64_t
        answer;    /* the last query and its answer in one word, because threads query concurrently; 0: no query yet */
    void *library; /* of the driver, for those who ask for its kernels by handle; guarded by the driver */
};

/*
 * The compute capabilities of the PTX and of the machine code that run. False: there is no code for the card. A binary
 * that cannot be read counts as made for the card.
 */
bool plim_fat_choose(struct plim_fat *fat, int compute_capability, int *ret_ptx, int *ret_binary);

#endif

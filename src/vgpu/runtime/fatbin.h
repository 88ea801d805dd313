/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_RUNTIME_FATBIN_H
#define PLIMSOLL_VGPU_RUNTIME_FATBIN_H

/* Which code of a fat binary a card would run: programs choose their algorithms by it, and some have none for a card.
 */

#include <stdbool.h>
#include <stdint.h>

struct plim_fat {
    const void *wrapper;     /* what the compiler's start-up code registered */
    _Atomic uint64_t answer; /* the last question and its answer in one word, for threads ask at once; 0: none yet */
};

/*
 * The compute capability that the code was compiled for, and that of what runs. False: there is no code for the card.
 * What cannot be read is taken to be made for the card.
 */
bool plim_fat_choose(struct plim_fat *fat, int compute_capability, int *ret_ptx, int *ret_binary);

#endif

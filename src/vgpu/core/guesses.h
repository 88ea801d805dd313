/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_GUESSES_H
#define PLIMSOLL_VGPU_CORE_GUESSES_H

/*
 * Values that the program got and that nobody knows: they may have steered it elsewhere than on a card. Each is counted
 * in the ledger by its place, which is the native stack and the frames of Python that show how the value is used.
 */

#include "vgpu/core/session.h"

struct plim_vgpu_guess {
    uint32_t known;    /* enum plim_shadow_known; less than known */
    bool is_answer;    /* a library's result, not a copy of device memory */
    const char *what;  /* what was guessed, with the assumption; NULL: a value of device memory */
    size_t size_bytes; /* of the value */
    const void *bytes; /* what the program gets; NULL: not to be told */
};

PLIM_VGPU_EXPORT void plim_vgpu_guessed(const struct plim_vgpu_guess *guess);

/* A value too large to be a decision by itself was read: weights, logits, an image. It is counted. */
PLIM_VGPU_EXPORT void plim_vgpu_guessed_data(void);

#endif

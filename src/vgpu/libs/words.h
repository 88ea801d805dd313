/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_WORDS_H
#define PLIMSOLL_VGPU_LIBS_WORDS_H

/*
 * The arguments behind the first of a function whose arguments are not told apart here: the words in which the calling
 * conventions of x86-64 and AArch64 pass integers and pointers. Behind the last argument they are what lies there. Each
 * address of device memory among them may be written through.
 */

#include <stdint.h>

enum { PLIM_N_WORDS = 23 };

#define PLIM_WORDS                                                                                                     \
    uintptr_t w1, uintptr_t w2, uintptr_t w3, uintptr_t w4, uintptr_t w5, uintptr_t w6, uintptr_t w7, uintptr_t w8,    \
        uintptr_t w9, uintptr_t w10, uintptr_t w11, uintptr_t w12, uintptr_t w13, uintptr_t w14, uintptr_t w15,        \
        uintptr_t w16, uintptr_t w17, uintptr_t w18, uintptr_t w19, uintptr_t w20, uintptr_t w21, uintptr_t w22,       \
        uintptr_t w23

#define PLIM_WORDS_GIVEN                                                                                               \
    (const uintptr_t[PLIM_N_WORDS])                                                                                    \
    {                                                                                                                  \
        w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15, w16, w17, w18, w19, w20, w21, w22, w23       \
    }

#endif

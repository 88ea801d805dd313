/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_VALUES_ZEROS_H
#define PLIMSOLL_VGPU_VALUES_ZEROS_H

/*
 * Zeros in memory of the host. Most of what a rehearsal copies off the card is zero, gigabytes of it, and fresh memory
 * of the host is zero already: a page takes room when it is written, none when it is only read.
 */

#include <stdbool.h>
#include <stddef.h>

bool plim_zeros_are(const void *bytes, size_t size);

/* The length of the part at the start that is zero, to a multiple of `step`, or all of it. */
size_t plim_zeros_prefix(const void *bytes, size_t size, size_t step);

/* As memset() with 0, but a page that is zero is not written. */
void plim_zeros_put(void *to, size_t size);

#endif

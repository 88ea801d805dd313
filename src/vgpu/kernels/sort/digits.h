/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_SORT_DIGITS_H
#define PLIMSOLL_VGPU_KERNELS_SORT_DIGITS_H

/* Stable sorts of keys by some of their bits, with values of any width that move along. */

#include "vgpu/kernels/element.h"

/* The most values that are moved by keys of which nothing is known. */
enum { PLIM_SORT_MAX_GUESSES = 1 << 16 };

struct plim_digits {
    enum plim_element key;
    bool is_descending;
    unsigned value_bytes; /* 0: there are no values */
    unsigned first_bit, n_bits;
};

/*
 * The bits of a key in an order in which larger keys have larger bits: integers by value, floats by their bits (so NaN
 * is beyond infinity on the side of its sign), -0 as 0. Inverted for a descending order.
 */
uint64_t plim_digits_of(enum plim_element element, bool is_descending, const void *key);

/* n keys and values, in bytes; the results are elsewhere. False: no memory. */
bool plim_digits_sort(const struct plim_digits *digits, uint64_t n, const uint8_t *keys, const uint8_t *values,
                      uint8_t *ret_keys, uint8_t *ret_values);

#endif

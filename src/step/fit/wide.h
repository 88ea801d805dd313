/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FIT_WIDE_H
#define PLIMSOLL_STEP_FIT_WIDE_H

/*
 * Whole numbers of 128 bits whose arithmetic says when a result does not fit. The test is by bits and a little strict:
 * products of up to 126 bits. (The compilers' own test calls a function that not every run-time library has.)
 */

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 plim_wide;

static inline plim_wide plim_wide_magnitude(plim_wide value) { return value < 0 ? -value : value; }

static inline int plim_wide_bits(plim_wide value)
{
    const plim_wide magnitude = plim_wide_magnitude(value);
    const uint64_t high = (uint64_t)(magnitude >> 64), low = (uint64_t)magnitude;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* *is_inside becomes false, and the result 0, when the numbers are too large. */
static inline plim_wide plim_wide_times(plim_wide a, plim_wide b, bool *is_inside)
{
    const bool fits = plim_wide_bits(a) + plim_wide_bits(b) <= 126;
    *is_inside = *is_inside && fits;
    return fits ? a * b : 0;
}

static inline plim_wide plim_wide_plus(plim_wide a, plim_wide b, bool *is_inside)
{
    const bool fits = plim_wide_bits(a) <= 125 && plim_wide_bits(b) <= 125;
    *is_inside = *is_inside && fits;
    return fits ? a + b : 0;
}

/* Of magnitudes; of 0 and a number: the number. */
static inline plim_wide plim_wide_gcd(plim_wide a, plim_wide b)
{
    a = plim_wide_magnitude(a);
    b = plim_wide_magnitude(b);
    while (b) {
        const plim_wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
